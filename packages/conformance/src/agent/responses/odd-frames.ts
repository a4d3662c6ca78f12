import type { Frame, MockReply, ProviderTesting, ScriptAnswer } from '@cobbler/agent/testing';
import {
  callBlock,
  expect,
  expectEqual,
  framed,
  framesOf,
  joinFrames,
  replies,
  responseSteps,
  scriptResponse,
  stepFrames,
} from '@cobbler/agent/testing';
import { expectResponse } from '../setup/compare.ts';
import { inText, isBinary, withoutLineEnd } from '../setup/frame-text.ts';
import { heldBytes } from '../setup/memory.ts';
import { askOnce, errorOf, responseOf, withSetup } from '../setup/setup.ts';
import type { CaseDefinition, ContractSubject } from '../setup/subject.ts';
import { group, lineGroup } from '../setup/subject.ts';

const the = group('frames');
const lines = lineGroup('frames');

const mebibyte = 1024 * 1024;

/** Real-time limit for input that a slow parser would take long to read, in milliseconds. */
const limitMs = 10_000;

const answer: ScriptAnswer = scriptResponse(['A few words.', callBlock('call_1', 'put', { value: 'x' })]);

/** Returns a reply with valid headers and a custom body. */
function body(testing: ProviderTesting, chunks: Iterable<Frame>): MockReply {
  const headers = { ...testing.head?.headers, 'content-type': testing.contentType };
  return { type: 'raw', status: 200, headers, body: chunks };
}

async function expectParsed(subject: ContractSubject, chunks: Iterable<Frame>): Promise<void> {
  await withSetup(
    subject,
    [body(subject.testing, chunks)],
    async (setup) => expectResponse(responseOf(await setup.ask()), answer, subject.testing),
    {},
    limitMs,
  );
}

async function expectMalformed(
  subject: ContractSubject,
  chunks: Iterable<Frame>,
  what: string,
): Promise<void> {
  const { outcome } = await askOnce(subject, [body(subject.testing, chunks)], {}, { retry: { retries: 0 } });
  const { kind, code } = errorOf(outcome);
  expectEqual([kind, code], ['network', 'garbled'], `the error after ${what}`);
}

function isEventStream({ contentType }: ProviderTesting): boolean {
  return contentType.startsWith('text/event-stream');
}

/** The shortest data without meaning: a comment, an empty line, or a frame without data. */
function nothing(testing: ProviderTesting): Frame {
  if (isBinary(testing)) return testing.frame('{}');
  return isEventStream(testing) ? ':\n\n' : '\n';
}

/** Data without meaning of this length. */
function muchOfNothing(testing: ProviderTesting, length: number): Frame {
  if (isBinary(testing)) return testing.frame(`${' '.repeat(length)}{}`);
  return isEventStream(testing) ? `:${'x'.repeat(length)}\n\n` : ' '.repeat(length);
}

function repeated(frame: Frame, count: number): Uint8Array {
  return joinFrames(Array<Frame>(count).fill(joinFrames([frame])));
}

/** Returns the frames with bytes replaced in the middle of a text. */
function spoiledInText(testing: ProviderTesting, bytes: readonly number[]): Uint8Array[] {
  const words = scriptResponse(['before MARK after']);
  const whole = joinFrames(framesOf(replies(words, { steps: responseSteps(words, 1) }), testing));
  // A wire that repeats the complete text at the end contains the same bytes there. One character for each byte.
  const [first = '', ...rest] = Array.from(whole, (byte) => String.fromCharCode(byte))
    .join('')
    .split('MARK');
  expect(
    rest.length > 0,
    'the text to appear unchanged in its frames; otherwise declare `checked-text` in `lacks`',
  );
  const encoded = (text: string) => Uint8Array.from(text, (character) => character.charCodeAt(0));
  return [encoded(first), ...rest.flatMap((after) => [Uint8Array.from(bytes), encoded(after)])];
}

/**
 * Bytes that are not UTF-8: a lone continuation byte, an overlong slash, half of a surrogate pair, an
 * impossible byte.
 */
const brokenText: readonly (readonly number[])[] = [
  [0x80],
  [0xc0, 0xaf],
  [0xed, 0xa0, 0x80],
  [0xff],
  [0xe6, 0xbc],
];

export const oddFrameCases: readonly CaseDefinition[] = [
  the('a million keep-alives before a response are skipped quickly', (subject) => {
    const some = repeated(nothing(subject.testing), 10_000);
    return expectParsed(subject, [
      ...Array<Frame>(100).fill(some),
      ...framesOf(replies(answer), subject.testing),
    ]);
  }),
  the('20,000 pings before a response are ignored', (subject) => {
    const { testing } = subject;
    const pings = framed(testing.noise(), testing);
    const some = repeated(pings, Math.ceil(1000 / Math.max(1, testing.noise().length)));
    return expectParsed(subject, [...Array<Frame>(20).fill(some), ...framesOf(replies(answer), testing)]);
  }),
  the('a keep-alive of eight mebibytes is ignored', (subject) => {
    const long = muchOfNothing(subject.testing, 8 * mebibyte);
    return expectParsed(subject, [long, ...framesOf(replies(answer), subject.testing)]);
  }),
  the('a frame of fifteen mebibytes is read', async (subject) => {
    const long = scriptResponse(['lorem ipsum dol '.repeat(15 * 65_536 - 2000)]);
    const { testing } = subject;
    const [open, delta] = responseSteps(long, 1);
    const steps = [open, delta].filter((step) => step !== undefined);
    const chunks = [
      ...framesOf(replies(long, { steps: [] }), testing),
      stepFrames(steps, replies(long), testing),
      // A wire that repeats the complete text would exceed the frame limit there.
      stepFrames([{ type: 'close', at: 0 }], replies(scriptResponse([''])), testing),
      stepFrames([{ type: 'end' }], replies(scriptResponse([])), testing),
    ];
    await withSetup(
      subject,
      [body(testing, chunks)],
      async (setup) => {
        const { content } = responseOf(await setup.ask());
        expectEqual(
          content.length,
          long.blocks[0]?.type === 'text' ? long.blocks[0].text.length : 0,
          'the length',
        );
      },
      {},
      limitMs,
    );
  }),
  the('a response of many frames uses no more memory than its text [P18]', async (subject) => {
    const { testing } = subject;
    const delta = stepFrames([{ type: 'delta', at: 0, text: 'some more words ' }], replies(answer), testing);
    const noise = framed(testing.noise(), testing);
    const some = joinFrames([repeated(noise, 20), delta]);
    function* chunks(total: number): Iterable<Frame> {
      yield* framesOf(replies(answer, { steps: responseSteps(answer).slice(0, 1) }), testing);
      for (let count = 0; count < total; count += 1) yield some;
    }
    const ask = (total: number) => {
      const reply = { ...body(testing, chunks(total)), ending: 'end' } as const;
      return askOnce(subject, [reply], {}, { retry: { retries: 0 } });
    };
    // What the first request loads stays in memory.
    await ask(1);
    const before = await heldBytes();
    const { outcome } = await ask(200);
    expectEqual(errorOf(outcome).kind, 'network', 'the kind of the error');
    const held = (await heldBytes()) - before;
    expect(held < 2 * mebibyte, `less than 2 MiB in use, found ${Math.round(held / mebibyte)} MiB`);
  }),
  the('NUL bytes between frames leave the response complete or make it an error [P1]', async (subject) => {
    const frames = framesOf(replies(answer), subject.testing);
    const chunks = frames.flatMap((frame): Frame[] => [frame, '\u0000\n']);
    const { outcome } = await askOnce(
      subject,
      [body(subject.testing, chunks)],
      {},
      { retry: { retries: 0 } },
    );
    if (outcome.response === undefined)
      expectEqual(errorOf(outcome).kind, 'network', 'the kind of the error');
    else expectResponse(outcome.response, answer, subject.testing);
  }),
  the(
    'invalid UTF-8 makes the response invalid [P27]',
    async (subject) => {
      for (const bytes of brokenText)
        await expectMalformed(subject, spoiledInText(subject.testing, bytes), `the bytes ${bytes.join()}`);
    },
    'checked-text',
  ),
  the('a character cut off by the end of the stream means an incomplete stream [P1]', async (subject) => {
    const [left = new Uint8Array(0)] = spoiledInText(subject.testing, []);
    const reply = body(subject.testing, [left, Uint8Array.from([0xe6, 0xbc])]);
    const { outcome } = await askOnce(subject, [reply], {}, { retry: { retries: 0 } });
    expectEqual(errorOf(outcome).kind, 'network', 'the kind of the error');
  }),
  lines('a last frame without a line break is read when the stream closes [P1]', async (subject) => {
    const text = withoutLineEnd(joinFrames(framesOf(replies(answer), subject.testing)));
    for (const chunks of [[text], [text.slice(0, -5), text.slice(-5)]]) {
      const { outcome } = await askOnce(subject, [body(subject.testing, chunks)]);
      expectResponse(responseOf(outcome), answer, subject.testing);
    }
  }),
  lines('one stream may mix all three line endings [P1]', (subject) => {
    if (!isEventStream(subject.testing))
      return expectParsed(subject, framesOf(replies(answer), subject.testing));
    const ends = ['\r\n', '\r', '\n'];
    const rewrite = inText(subject.testing, (frame, index) =>
      frame.replaceAll('\n', ends[index % ends.length] ?? '\n'),
    );
    return expectParsed(subject, framesOf(replies(answer, { rewrite }), subject.testing));
  }),
  lines('fields without meaning and comments are ignored [P1]', (subject) => {
    const { testing } = subject;
    const [first = '', ...rest] = framesOf(replies(answer), testing);
    const odd = ['event', 'event: x', 'id', 'id: 7', 'retry: 10', ':data: {"x'];
    return expectParsed(subject, [
      first,
      ...(isEventStream(testing) ? [`${odd.join('\n')}\n\n`, ...odd.map((line) => `${line}\n\n`)] : []),
      ...rest,
    ]);
  }),
  the(
    'a line that is not a field, and an error without data, make the response invalid [P27]',
    async (subject) => {
      const { testing } = subject;
      const [first = '', ...rest] = framesOf(replies(answer), testing);
      const odd = isEventStream(testing)
        ? [
            'dat: {}',
            ' data: {"broken',
            'database: {"x',
            'DATA: {"x',
            'data\u0000: {"x',
            '{"x":1}',
            'event: error',
          ]
        : ['x'];
      for (const line of odd)
        await expectMalformed(subject, [first, `${line}\n\n`, ...rest], JSON.stringify(line));
    },
  ),
];

import type { AgentEvent } from '@cobbler/agent';
import type {
  Chunking,
  Frame,
  ProviderTesting,
  ResponseReply,
  ScriptAnswer,
  Step,
} from '@cobbler/agent/testing';
import {
  callBlock,
  expect,
  expectEqual,
  framed,
  LiveStream,
  replies,
  responseSteps,
  scriptResponse,
  stepFrames,
} from '@cobbler/agent/testing';
import { expectResponse } from '../setup/compare.ts';
import { inText } from '../setup/frame-text.ts';
import { askOnce, errorOf, responseOf, withSetup } from '../setup/setup.ts';
import type { CaseDefinition } from '../setup/subject.ts';
import { group } from '../setup/subject.ts';

const the = group('stream');

/** A response with every kind of block, and text with characters of all widths. */
const rich: ScriptAnswer = scriptResponse([
  'Wörter: 漢字 🧵 and “quotes”.',
  callBlock('call_1', 'look_up', { word: 'aïe 🧵', deep: [{ a: null }, true, -1.5e3] }),
  callBlock('call_2', 'put', { value: ['x', { y: 'ж' }] }),
]);

function readsChunks(how: string, chunks: Chunking): CaseDefinition {
  return the(`a response in ${how} is read correctly`, async (subject) => {
    const { outcome } = await askOnce(subject, replies(rich, { chunks, noise: true }));
    expectResponse(responseOf(outcome), rich, subject.testing);
  });
}

/**
 * Payloads of unknown kinds or without a kind, without data. It contains no string, because strings become
 * malformed frames.
 */
const strange: readonly unknown[] = [
  null,
  7,
  true,
  [],
  {},
  [[]],
  { type: 5 },
  { type: 'something.from.the.future', at: 3, event_id: 'evt_1', data: {} },
  { delta: null },
  { choices: null },
];

/** Returns the frames of the given steps. */
function framesOfSteps(answer: ScriptAnswer, steps: readonly Step[], testing: ProviderTesting): Frame {
  return stepFrames(steps, replies(answer), testing);
}

export const streamCases: readonly CaseDefinition[] = [
  readsChunks('one chunk', 'whole'),
  readsChunks('one chunk per payload', 'payload'),
  readsChunks('chunks of a single byte', { size: 1 }),
  readsChunks('chunks of three bytes', { size: 3 }),
  readsChunks('chunks of 61 bytes', { size: 61 }),
  the('noise between all payloads changes nothing and is not emitted', async (subject) => {
    const quiet = await askOnce(subject, replies(rich));
    const noisy = await askOnce(subject, replies(rich, { noise: true }));
    expectResponse(responseOf(noisy.outcome), rich, subject.testing);
    expectEqual(noisy.outcome.events, quiet.outcome.events, 'the events, compared with those without noise');
  }),
  the('payloads of unknown kinds without data are ignored', async (subject) => {
    const edit = (payloads: readonly unknown[]) =>
      payloads.flatMap((payload, index) => [payload, strange[index % strange.length]]).slice(0, -1);
    const { outcome } = await askOnce(subject, replies(rich, { edit }));
    expectResponse(responseOf(outcome), rich, subject.testing);
  }),
  the('deltas come in order, then their block, then the calls', async (subject) => {
    const answer = scriptResponse(['One two three.', callBlock('call_1', 'look_up', { word: 'last' })]);
    const { outcome } = await askOnce(subject, replies(answer));
    expectResponse(responseOf(outcome), answer, subject.testing);
    const types = outcome.events.map(({ type }) => type);
    const text = types.indexOf('text');
    expect(types.lastIndexOf('text_delta') < text, 'the text after its deltas');
    expect(types.includes('tool_input_delta'), 'the arguments to be emitted as deltas');
    expect(types.indexOf('tool_call') > text, 'the call after the text');
    // If the service closes blocks, they are emitted before the end of the response.
    const closesBlocks = subject.testing.line({ type: 'close', at: 0 }, answer).length > 0;
    if (closesBlocks) expect(types.indexOf('tool_input_delta') > text, 'the text as soon as it is complete');
    expectEqual(types.at(-1), 'tool_call', 'the last event');
    const json = outcome.events
      .map((event) => (event.type === 'tool_input_delta' ? event.json : ''))
      .join('');
    expectEqual(JSON.parse(json), { word: 'last' }, 'the joined argument deltas');
  }),
  the('each block is emitted under its own index', async (subject) => {
    const { outcome } = await askOnce(subject, replies(rich));
    const indexes = (type: AgentEvent['type']) =>
      outcome.events.flatMap((event) => (event.type === type && 'index' in event ? [event.index] : []));
    expectEqual(new Set(indexes('text_delta')), new Set(indexes('text')), 'the index of the text');
    expectEqual([...new Set(indexes('tool_input_delta'))], indexes('tool_call'), 'the indexes of the calls');
    const blocks = [...indexes('text'), ...indexes('tool_call')];
    expectEqual(new Set(blocks).size, blocks.length, 'the number of different indexes');
  }),
  the('text is emitted before the rest of the response arrives', async (subject) => {
    const answer = scriptResponse(['Early. Late.']);
    const stream = new LiveStream();
    await withSetup(subject, [{ type: 'live', stream }], async (setup) => {
      const { testing } = subject;
      const received = Promise.withResolvers<void>();
      const asked = setup.ask({}, { emit: (event) => event.type === 'text_delta' && received.resolve() });
      await setup.server.arrival(0);
      stream.send(framed(testing.begin(answer), testing));
      stream.send(
        framesOfSteps(
          answer,
          [
            { type: 'open', at: 0 },
            { type: 'delta', at: 0, text: 'Early. ' },
          ],
          testing,
        ),
      );
      await received.promise;
      stream.send(
        framesOfSteps(
          answer,
          [{ type: 'delta', at: 0, text: 'Late.' }, { type: 'close', at: 0 }, { type: 'end' }],
          testing,
        ),
      );
      stream.end();
      expectResponse(responseOf(await asked), answer, testing);
    });
  }),
  the('a response is complete at its end, even if the connection stays open [P2]', async (subject) => {
    const answer = scriptResponse(['All said.']);
    await withSetup(subject, [replies(answer, { ending: 'stall' })], async (setup) => {
      const asked = setup.ask();
      const over = asked.then(() => true);
      let isOver = false;
      for (let waited = 0; waited < 5000 && !isOver; waited += 250) {
        isOver = await Promise.race([over, setup.untilSettled().then(() => false)]);
        if (!isOver) await setup.runtime.advance(250);
      }
      expect(isOver, 'the response within 5 s of its end');
      expectResponse(responseOf(await asked), answer, subject.testing);
    });
  }),
  the(
    'interleaved blocks are separated correctly',
    async (subject) => {
      const answer = scriptResponse([
        'left side',
        callBlock('call_1', 'look_up', { word: 'w' }),
        callBlock('call_2', 'put', { value: 1 }),
      ]);
      const [first, second, third] = [0, 1, 2].map((at) =>
        responseSteps(answer).filter((step) => 'at' in step && step.at === at),
      );
      const woven = (first ?? []).flatMap((_, index) => [first?.[index], second?.[index], third?.[index]]);
      const steps = woven.filter((step) => step !== undefined);
      expectEqual(steps.length, responseSteps(answer).length - 1, 'the number of interleaved steps');
      const { outcome } = await askOnce(subject, replies(answer, { steps: [...steps, { type: 'end' }] }));
      expectResponse(responseOf(outcome), answer, subject.testing);
      const types = responseOf(outcome).message.content.map(({ type }) => type);
      expectEqual(types, ['text', 'tool_call', 'tool_call'], 'the order of the parts');
    },
    'interleaving',
  ),
  the(
    'blocks are ordered by when they were opened, not by their first delta',
    async (subject) => {
      const answer = scriptResponse([{ type: 'reasoning', text: 'Thinking.' }, 'Said.']);
      const steps = responseSteps(answer);
      const opening = steps.filter(({ type }) => type === 'open');
      const speaking = steps.filter(({ type }) => type !== 'open' && type !== 'end');
      const inner = speaking.filter((step) => 'at' in step && step.at === 0);
      const outer = speaking.filter((step) => 'at' in step && step.at === 1);
      const reordered = [...opening, ...outer, ...inner, { type: 'end' }] as const;
      expectEqual(reordered.length, steps.length, 'the number of steps');
      const { outcome } = await askOnce(subject, replies(answer, { steps: reordered }));
      expectResponse(responseOf(outcome), answer, subject.testing);
      const types = responseOf(outcome).message.content.flatMap(({ type }) =>
        type === 'opaque' ? [] : [type],
      );
      expectEqual(types, ['reasoning', 'text'], 'the order of the parts');
    },
    'interleaving',
    'reasoning',
  ),
  the(
    'text after a call keeps its position',
    async (subject) => {
      const answer = scriptResponse(['Before.', callBlock('call_1', 'look_up', { word: 'w' }), 'After.']);
      const { outcome } = await askOnce(subject, replies(answer));
      expectResponse(responseOf(outcome), answer, subject.testing);
      const types = responseOf(outcome).message.content.map(({ type }) => type);
      expectEqual(types, ['text', 'tool_call', 'text'], 'the order of the parts');
    },
    'interleaving',
  ),
  the('a malformed payload in the middle is never a success [P1]', async (subject) => {
    const answer = scriptResponse(['One two three four five six.']);
    const rewrite = garbled(answer, subject.testing);
    const { outcome } = await askOnce(subject, replies(answer, { rewrite }), {}, { retry: { retries: 0 } });
    expectEqual(errorOf(outcome).kind, 'network', 'the kind of the error');
  }),
  the('a malformed stream is retried [P5]', async (subject) => {
    const answer = scriptResponse(['One two three four five six.']);
    const rewrite = garbled(answer, subject.testing);
    const { outcome } = await askOnce(subject, [replies(answer, { rewrite }), replies(answer)]);
    expectResponse(responseOf(outcome), answer, subject.testing);
    expectEqual(responseOf(outcome).attempts, 2, 'the attempts');
  }),
  the('an emit callback that throws changes nothing', async (subject) => {
    await withSetup(subject, [replies(rich)], async (setup) => {
      const emit = () => {
        throw new Error('The listener failed.');
      };
      expectResponse(responseOf(await setup.ask({}, { emit })), rich, subject.testing);
    });
  }),
];

/** Removes a quote from the frame with the second delta, so that its JSON is invalid but the stream is not. */
function garbled(answer: ScriptAnswer, testing: ProviderTesting): NonNullable<ResponseReply['rewrite']> {
  const before = responseSteps(answer).slice(0, 2);
  const at = testing.begin(answer).length + before.flatMap((step) => testing.line(step, answer)).length;
  const change = inText(testing, (text) => {
    const quote = text.lastIndexOf('"');
    return text.slice(0, quote) + text.slice(quote + 1);
  });
  return (frame, index, payload) => (index === at ? change(frame, index, payload) : frame);
}

import type {
  Ending,
  Frame,
  MockReply,
  ProviderTesting,
  ResponseReply,
  ScriptAnswer,
} from '@cobbler/agent/testing';
import {
  expect,
  expectEqual,
  expectOneOf,
  framesOf,
  joinFrames,
  replies,
  responseStepsUntil,
  scriptResponse,
} from '@cobbler/agent/testing';
import { scriptCalls, scriptText } from '../setup/compare.ts';
import { isBinary, withoutLineEnd } from '../setup/frame-text.ts';
import { endsInPart, places, replyUpTo, spoken, unfinished } from '../setup/positions.ts';
import type { Outcome } from '../setup/setup.ts';
import { askOnce, errorOf, responseOf, withSetup } from '../setup/setup.ts';
import type { CaseDefinition, ContractSubject } from '../setup/subject.ts';
import { group } from '../setup/subject.ts';

const ends = group('ends');
const faults = group('faults');

/** Sends one request for each reply on one fixture, without retries. */
async function outcomesOf(subject: ContractSubject, list: readonly MockReply[]): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  await withSetup(
    subject,
    list,
    async (setup) => {
      for (let index = 0; index < list.length; index += 1) outcomes.push(await setup.ask());
    },
    { retry: { retries: 0 } },
    20_000,
  );
  return outcomes;
}

/** Fails if the response is incomplete: it must be complete or an error. */
function expectWholeOrNone({ response, error }: Outcome, answer: ScriptAnswer, what: string): void {
  if (response === undefined) {
    expectEqual([error?.kind, error?.retryable], ['network', true], `kind and retryable, ${what}`);
    return;
  }
  const found = [response.content, response.stopReason, response.toolCalls];
  expectEqual(found, [scriptText(answer), answer.stop, scriptCalls(answer)], `the response, ${what}`);
}

/** Returns the number of end payloads that complete the response, or one more than exist if none does. */
async function neededOfEnd(subject: ContractSubject, answer: ScriptAnswer, ending: Ending): Promise<number> {
  const parts = endsInPart(answer, subject.testing).map((reply) => ({ ...reply, ending }));
  const outcomes = await outcomesOf(subject, [...parts, replies(answer)]);
  for (const [sent, outcome] of outcomes.entries())
    expectWholeOrNone(outcome, answer, `with ${sent} payloads of the end`);
  const needed = outcomes.findIndex(({ response }) => response !== undefined);
  expect(needed > 0, `no response before any payload of the end, found one after ${needed}`);
  expect(
    outcomes.slice(needed).every(({ response }) => response !== undefined),
    `a response with ${needed} or more payloads of the end`,
  );
  return needed;
}

/** A response with characters of all widths, cut off after a number of bytes. */
function cutAt(bytes: Uint8Array, length: number, testing: ProviderTesting): MockReply {
  const headers = { ...testing.head?.headers, 'content-type': testing.contentType };
  const ending = length % 2 === 0 ? 'end' : 'reset';
  return { type: 'raw', status: 200, headers, body: [bytes.subarray(0, length)], ending };
}

/** Returns lengths around the boundaries of each frame and inside it. */
function lengthsToTry(frames: readonly Uint8Array[]): number[] {
  const lengths = new Set<number>();
  let end = 0;
  for (const { length } of frames) {
    for (const part of [0, 1, Math.ceil(length / 3), Math.ceil(length / 2), length - 1])
      lengths.add(end + part);
    end += length;
  }
  return [...lengths];
}

async function cutAnywhere(subject: ContractSubject): Promise<void> {
  const { testing } = subject;
  const answer = scriptResponse(['Wörter: 漢字 🧵.', ...spoken.blocks.slice(1)]);
  const needed = await neededOfEnd(subject, answer, 'end');
  const frames = framesOf(replies(answer), testing);
  const tail = testing.line({ type: 'end' }, answer).length - needed;
  const bytes = joinFrames(frames);
  const needsAll = joinFrames(frames.slice(0, frames.length - tail));
  const whole = isBinary(testing) ? needsAll.length : withoutLineEnd(needsAll).length;
  const lengths = lengthsToTry(frames).filter((length) => length < whole);
  expect(lengths.length > 20, 'more than 20 positions to cut at');
  const outcomes = await outcomesOf(
    subject,
    lengths.map((length) => cutAt(bytes, length, testing)),
  );
  for (const [index, outcome] of outcomes.entries()) {
    const what = `cut off after ${lengths[index]} of ${bytes.length} bytes`;
    expect(outcome.response === undefined, `no response ${what}`);
    expectWholeOrNone(outcome, answer, what);
  }
}

/** An error replaces the missing payloads of the end. A response that was already complete stays valid. */
async function faultsInEnd(subject: ContractSubject): Promise<void> {
  const { testing } = subject;
  const needed = await neededOfEnd(subject, spoken, 'end');
  const failure = testing.fail({ kind: 'busy', message: 'Late, number 17.' });
  const parts = endsInPart(spoken, testing).map(
    (reply): ResponseReply => ({ ...reply, edit: (all) => [...(reply.edit?.(all) ?? all), ...failure] }),
  );
  for (const [sent, outcome] of (await outcomesOf(subject, parts)).entries()) {
    if (sent >= needed) responseOf(outcome);
    else
      expectEqual(
        [errorOf(outcome).kind, errorOf(outcome).retryable],
        ['rate_limit', true],
        `kind and retryable with ${sent} payloads of the end`,
      );
  }
}

export const endCases: readonly CaseDefinition[] = [
  ends('a response whose end is cut off is complete or an error when the stream closes [P1]', (subject) =>
    neededOfEnd(subject, spoken, 'end').then(() => {}),
  ),
  ends(
    'a response whose end is cut off is complete or an error when the connection breaks [P1]',
    async (subject) => {
      const clean = await neededOfEnd(subject, spoken, 'end');
      expectEqual(await neededOfEnd(subject, spoken, 'reset'), clean, 'the number of end payloads needed');
    },
  ),
  ends('a response whose end is cut off never has another stop reason [P4]', (subject) =>
    neededOfEnd(subject, scriptResponse(['As far as it goes.'], { stop: 'max_tokens' }), 'end').then(
      () => {},
    ),
  ),
  ends('a response cut off at any byte before its end is an error [P1]', cutAnywhere),
  ends('a stream that always ends early is requested four times [P5]', async (subject) => {
    const cut = replies(spoken, { steps: unfinished(spoken) });
    const { outcome, exchanges } = await askOnce(subject, [cut, cut, cut, cut, replies(spoken)]);
    expectEqual([errorOf(outcome).kind, errorOf(outcome).attempts], ['network', 4], 'kind and attempts');
    expectEqual(exchanges.length, 4, 'the number of requests');
  }),
  ends('after a cut at each position, only the last attempt is in the response [P8]', async (subject) => {
    const fitting = places.filter(
      ({ needs }) => needs === undefined || subject.testing.lacks[needs] === undefined,
    );
    const script = [...fitting.map((place) => replyUpTo(place)), replies(spoken)];
    const { outcome } = await askOnce(subject, script, {}, { retry: { retries: fitting.length } });
    expectEqual(responseOf(outcome).attempts, fitting.length + 1, 'the attempts');
    expectEqual(responseOf(outcome).toolCalls, scriptCalls(spoken), 'the calls');
    const tellings = outcome.events.filter(({ type }) => type === 'retry');
    expectEqual(tellings.length, fitting.length, 'the number of retry events');
  }),
  faults('an error between the payloads of the end is reported [P5]', faultsInEnd, 'in-stream-fault'),
  faults(
    'an error instead of the whole response is reported [P5]',
    async (subject) => {
      const failure = subject.testing.fail({ kind: 'busy', message: 'First thing, number 18.' });
      const first = replies(spoken, { edit: () => failure });
      const { outcome } = await askOnce(subject, [first], {}, { retry: { retries: 0 } });
      expectEqual(errorOf(outcome).kind, 'rate_limit', 'the kind of the error');
      expect(errorOf(outcome).message.includes('number 18'), 'the message of the service');
    },
    'in-stream-fault',
  ),
  faults(
    'data after an error changes nothing [P1]',
    async (subject) => {
      const failure = subject.testing.fail({ kind: 'agent', message: 'Broken, number 19.' });
      const edit = (all: readonly unknown[]) => [...failure, ...all];
      for (const chunks of ['whole', 'payload'] as const) {
        const reply = replies(spoken, { edit, chunks });
        const { outcome } = await askOnce(subject, [reply], {}, { retry: { retries: 0 } });
        expectEqual([errorOf(outcome).kind, outcome.events], ['agent', []], 'kind and events');
      }
    },
    'in-stream-fault',
  ),
  faults(
    'an error whose frame is cut off is retried like any incomplete stream [P5]',
    async (subject) => {
      const last = framesOf(replies(spoken, { steps: [] }), subject.testing).length;
      const rewrite = (frame: Frame, index: number) =>
        index === last ? frame.slice(0, frame.length / 2) : frame;
      const fault = { kind: 'busy', message: 'Cut short.' } as const;
      const cut = replies(spoken, { steps: [], fault, rewrite });
      const { outcome } = await askOnce(subject, [cut, replies(spoken)]);
      expectEqual(responseOf(outcome).attempts, 2, 'the attempts');
    },
    'in-stream-fault',
  ),
  faults(
    'a service that sends errors instead of responses is retried for minutes [P5]',
    async (subject) => {
      const failure = subject.testing.fail({ kind: 'busy', message: 'Still busy.' });
      const script = [...Array(12).fill(replies(spoken, { edit: () => failure })), replies(spoken)];
      const { outcome } = await askOnce(subject, script);
      expectEqual(responseOf(outcome).attempts, 13, 'the attempts');
    },
    'in-stream-fault',
  ),
  faults(
    'a service that fails in the middle of every response is requested four times [P5]',
    async (subject) => {
      const steps = responseStepsUntil(spoken, ({ type }) => type === 'close');
      const reply = replies(spoken, { steps, fault: { kind: 'busy', message: 'Still busy.' } });
      const { outcome, exchanges } = await askOnce(subject, [reply, reply, reply, reply, replies(spoken)]);
      expectEqual([errorOf(outcome).attempts, exchanges.length], [4, 4], 'attempts and requests');
      expectOneOf(errorOf(outcome).kind, ['rate_limit'], 'the kind of the error');
    },
    'in-stream-fault',
  ),
];

import type { ErrorKind } from '../../errors.ts';
import { expect, expectEqual } from '../assertion.ts';
import type { AnswerPlay, Ending } from '../play.ts';
import { plays } from '../play.ts';
import type { Lack, ScriptAnswer, ScriptFault, Step } from '../provider-testing.ts';
import { callBlock, scriptAnswer, tell } from '../script.ts';
import { expectAnswer } from './compare.ts';
import { answered, askOnce, failed } from './stage.ts';
import type { CaseDefinition } from './subject.ts';
import { group } from './subject.ts';

const cuts = group('cuts');
const faults = group('faults');

const spoken: ScriptAnswer = scriptAnswer([
  'A text of some length.',
  callBlock('call_1', 'put', { value: 'an argument of some length' }),
]);
const thoughtful: ScriptAnswer = scriptAnswer([
  { type: 'reasoning', text: 'A thought of some length.' },
  'Text.',
]);

/** A place in the telling of an answer: what has been told when something happens. */
interface Place {
  readonly what: string;
  readonly answer: ScriptAnswer;
  readonly steps: readonly Step[];
  readonly torn?: Step;
  readonly needs?: Lack;
}

/** The steps before the first one of this block and type, and one of that kind. */
function until(answer: ScriptAnswer, at: number, type: Step['type']): readonly Step[] {
  const steps = tell(answer);
  const index = steps.findIndex((step) => step.type === type && 'at' in step && step.at === at);
  return steps.slice(0, index + 1);
}

const places: readonly Place[] = [
  { what: 'before anything is said', answer: spoken, steps: [] },
  { what: 'in the middle of a text', answer: spoken, steps: until(spoken, 0, 'delta') },
  { what: 'behind a text', answer: spoken, steps: until(spoken, 0, 'close') },
  {
    what: 'in the middle of reasoning',
    answer: thoughtful,
    steps: until(thoughtful, 0, 'delta'),
    needs: 'reasoning',
  },
  { what: 'behind the name of a call', answer: spoken, steps: until(spoken, 1, 'open') },
  { what: 'in the middle of arguments', answer: spoken, steps: until(spoken, 1, 'delta') },
  { what: 'behind a whole call', answer: spoken, steps: until(spoken, 1, 'close') },
  {
    what: 'in the middle of a frame',
    answer: spoken,
    steps: until(spoken, 0, 'open'),
    torn: { type: 'delta', at: 0, text: 'A text of some length.' },
  },
  {
    what: 'in the middle of the last frame',
    answer: spoken,
    steps: until(spoken, 1, 'close'),
    torn: { type: 'end' },
  },
];

function cutCase(place: Place, ending: Ending): CaseDefinition {
  const { what, answer, steps, torn, needs } = place;
  const how = ending === 'end' ? 'ends cleanly' : 'breaks';
  const play: AnswerPlay = plays(answer, { steps, ending, ...(torn !== undefined && { torn }) });
  return cuts(
    `P1 a stream that ${how} ${what} is no answer, and is tried again`,
    async (subject) => {
      const given = await askOnce(subject, [play], {}, { retry: { retries: 0 } });
      expectEqual(
        [failed(given.outcome).kind, failed(given.outcome).retryable],
        ['network', true],
        'kind and retryable',
      );
      const { outcome } = await askOnce(subject, [play, plays(answer)]);
      expectAnswer(answered(outcome), answer, subject.testing);
      expectEqual(answered(outcome).attempts, 2, 'the attempts');
    },
    ...(needs === undefined ? [] : [needs]),
  );
}

/** A failure told inside a stream whose head said 200. */
function faultCase(place: Place, type: ScriptFault['type'], kind: ErrorKind): CaseDefinition {
  const { what, answer, steps, needs } = place;
  const message = `The stream fails with ${type}, number 991.`;
  const play = plays(answer, { steps, fault: { type, message } });
  return faults(
    `a stream that tells of ${type} ${what} is ${kind}, and is tried again`,
    async (subject) => {
      const given = await askOnce(subject, [play], {}, { retry: { retries: 0 } });
      expectEqual(
        [failed(given.outcome).kind, failed(given.outcome).retryable],
        [kind, true],
        'kind and retryable',
      );
      expect(
        failed(given.outcome).message.includes(message),
        `the words of the service, found ${failed(given.outcome).message}`,
      );
      const { outcome } = await askOnce(subject, [play, plays(answer)]);
      expectAnswer(answered(outcome), answer, subject.testing);
      expectEqual(answered(outcome).attempts, 2, 'the attempts');
    },
    'in-stream-fault',
    ...(needs === undefined ? [] : [needs]),
  );
}

const wholeFrames = places.filter(({ torn }) => torn === undefined);

export const cutCases: readonly CaseDefinition[] = [
  ...places.flatMap((place) => [cutCase(place, 'end'), cutCase(place, 'reset')]),
  cuts('P1 a good status with an empty body is no answer, and is tried again', async (subject) => {
    const headers = { 'content-type': subject.testing.contentType };
    const empty = { type: 'raw', status: 200, headers } as const;
    const given = await askOnce(subject, [empty], {}, { retry: { retries: 0 } });
    expectEqual(
      [failed(given.outcome).kind, failed(given.outcome).retryable],
      ['network', true],
      'kind and retryable',
    );
    const { outcome } = await askOnce(subject, [empty, plays(spoken)]);
    expectAnswer(answered(outcome), spoken, subject.testing);
  }),
  cuts('P1 a stream of noise alone is no answer', async (subject) => {
    const noise = plays(spoken, { edit: () => subject.testing.noise() });
    const { outcome } = await askOnce(subject, [noise], {}, { retry: { retries: 0 } });
    expectEqual(failed(outcome).kind, 'network', 'the kind of the error');
  }),
  ...wholeFrames.map((place) => faultCase(place, 'overloaded', 'rate_limit')),
  faultCase(wholeFrames[1] ?? { what: 'somewhere', answer: spoken, steps: [] }, 'rate_limit', 'rate_limit'),
  faultCase(wholeFrames[1] ?? { what: 'somewhere', answer: spoken, steps: [] }, 'server', 'agent'),
  faults(
    'a stream that tells that the request is invalid is final',
    async (subject) => {
      const play = plays(spoken, { steps: [], fault: { type: 'invalid', message: 'No good, number 7.' } });
      const { outcome, exchanges } = await askOnce(subject, [play, plays(spoken)]);
      expectEqual(
        [failed(outcome).kind, failed(outcome).retryable],
        ['invalid', false],
        'kind and retryable',
      );
      expect(failed(outcome).message.includes('No good, number 7.'), 'the words of the service');
      expectEqual(exchanges.length, 1, 'the number of requests');
    },
    'in-stream-fault',
  ),
];

import type {
  ProviderTesting,
  ResponseReply,
  ScriptAnswer,
  Step,
  UnsupportedFeature,
} from '@cobbler/agent/testing';
import { callBlock, replies, responseSteps, scriptResponse } from '@cobbler/agent/testing';
import { defined } from '@cobbler/agent/values';

/** A text and a call. */
export const spoken: ScriptAnswer = scriptResponse([
  'A text of some length.',
  callBlock('call_1', 'put', { value: 'an argument of some length' }),
]);

/** Reasoning and a text. */
export const thoughtful: ScriptAnswer = scriptResponse([
  { type: 'reasoning', text: 'A thought of some length.' },
  'Text.',
]);

/** A place in the telling of an answer: what has been told when something happens. */
export interface ResponsePosition {
  readonly what: string;
  readonly answer: ScriptAnswer;
  readonly steps: readonly Step[];
  readonly torn?: Step;
  readonly needs?: UnsupportedFeature;
}

/** The steps before the first one of this block and type, and one of that kind. */
export function until(answer: ScriptAnswer, at: number, type: Step['type']): Step[] {
  const steps = responseSteps(answer);
  const index = steps.findIndex((step) => step.type === type && 'at' in step && step.at === at);
  return steps.slice(0, index + 1);
}

/** Everything but the end. */
export function unfinished(answer: ScriptAnswer): Step[] {
  return responseSteps(answer).filter(({ type }) => type !== 'end');
}

/** Every place of an answer before its end. */
export const places: readonly ResponsePosition[] = [
  { what: 'before anything is said', answer: spoken, steps: [] },
  { what: 'behind the opening of a text', answer: spoken, steps: until(spoken, 0, 'open') },
  { what: 'in the middle of a text', answer: spoken, steps: until(spoken, 0, 'delta') },
  { what: 'behind a text', answer: spoken, steps: until(spoken, 0, 'close') },
  {
    what: 'in the middle of reasoning',
    answer: thoughtful,
    steps: until(thoughtful, 0, 'delta'),
    needs: 'reasoning',
  },
  {
    what: 'behind reasoning',
    answer: thoughtful,
    steps: until(thoughtful, 0, 'close'),
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

/** Places where no frame is torn. */
export const wholePlaces: readonly ResponsePosition[] = places.filter(({ torn }) => torn === undefined);

/** The lacks that switch a case at this place off. */
export function needsOf({ needs }: ResponsePosition): readonly UnsupportedFeature[] {
  return needs === undefined ? [] : [needs];
}

/** The answer told up to this place. */
export function toldTo(
  { answer, steps, torn }: ResponsePosition,
  rest: Partial<Omit<ResponseReply, 'type' | 'answer'>> = {},
): ResponseReply {
  return replies(answer, { steps, ...defined({ torn }), ...rest });
}

/**
 * The answer with the payloads of its end told in part: once for each number of them from none to all but
 * one. Which of them makes the answer whole is the wire's own affair.
 */
export function endsInPart(answer: ScriptAnswer, testing: ProviderTesting): ResponseReply[] {
  const payloads = testing.line({ type: 'end' }, answer).length;
  return Array.from({ length: payloads }, (_, told) =>
    replies(answer, { edit: (all) => all.slice(0, all.length - payloads + told) }),
  );
}

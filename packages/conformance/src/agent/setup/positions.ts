import type {
  ProviderTesting,
  ResponseReply,
  ScriptAnswer,
  Step,
  UnsupportedFeature,
} from '@cobbler/agent/testing';
import { callBlock, replies, responseSteps, scriptResponse } from '@cobbler/agent/testing';
import { defined } from '@cobbler/agent/values';

/** A response with a text and a call. */
export const spoken: ScriptAnswer = scriptResponse([
  'A text of some length.',
  callBlock('call_1', 'put', { value: 'an argument of some length' }),
]);

/** A response with reasoning and a text. */
export const thoughtful: ScriptAnswer = scriptResponse([
  { type: 'reasoning', text: 'A thought of some length.' },
  'Text.',
]);

/** A position in a response: the parts sent before something happens. */
export interface ResponsePosition {
  readonly what: string;
  readonly answer: ScriptAnswer;
  readonly steps: readonly Step[];
  readonly torn?: Step;
  readonly needs?: UnsupportedFeature;
}

/** Returns the steps up to the first one of this block and type. */
export function until(answer: ScriptAnswer, at: number, type: Step['type']): Step[] {
  const steps = responseSteps(answer);
  const index = steps.findIndex((step) => step.type === type && 'at' in step && step.at === at);
  return steps.slice(0, index + 1);
}

/** Returns all steps but the end. */
export function unfinished(answer: ScriptAnswer): Step[] {
  return responseSteps(answer).filter(({ type }) => type !== 'end');
}

/** All positions in a response before its end. */
export const places: readonly ResponsePosition[] = [
  { what: 'before any content', answer: spoken, steps: [] },
  { what: 'after the opening of a text', answer: spoken, steps: until(spoken, 0, 'open') },
  { what: 'in the middle of a text', answer: spoken, steps: until(spoken, 0, 'delta') },
  { what: 'after a text', answer: spoken, steps: until(spoken, 0, 'close') },
  {
    what: 'in the middle of reasoning',
    answer: thoughtful,
    steps: until(thoughtful, 0, 'delta'),
    needs: 'reasoning',
  },
  {
    what: 'after reasoning',
    answer: thoughtful,
    steps: until(thoughtful, 0, 'close'),
    needs: 'reasoning',
  },
  { what: 'after the name of a call', answer: spoken, steps: until(spoken, 1, 'open') },
  { what: 'in the middle of arguments', answer: spoken, steps: until(spoken, 1, 'delta') },
  { what: 'after a complete call', answer: spoken, steps: until(spoken, 1, 'close') },
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

/** The positions where no frame is cut. */
export const wholePlaces: readonly ResponsePosition[] = places.filter(({ torn }) => torn === undefined);

/** Returns the features that a case at this position needs. */
export function needsOf({ needs }: ResponsePosition): readonly UnsupportedFeature[] {
  return needs === undefined ? [] : [needs];
}

/** Returns the response up to this position. */
export function replyUpTo(
  { answer, steps, torn }: ResponsePosition,
  rest: Partial<Omit<ResponseReply, 'type' | 'answer'>> = {},
): ResponseReply {
  return replies(answer, { steps, ...defined({ torn }), ...rest });
}

/**
 * Returns the response with only some payloads of its end: one reply for each number of payloads from none to
 * all but one. The wire decides which of them complete the response.
 */
export function endsInPart(answer: ScriptAnswer, testing: ProviderTesting): ResponseReply[] {
  const payloads = testing.line({ type: 'end' }, answer).length;
  return Array.from({ length: payloads }, (_, sent) =>
    replies(answer, { edit: (all) => all.slice(0, all.length - payloads + sent) }),
  );
}

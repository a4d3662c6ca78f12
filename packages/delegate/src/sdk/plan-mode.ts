import { textOf } from '../fields.ts';

/** What is added to the instructions while a session is in the mode `plan`. */
export const planInstruction: string = [
  'You are planning. Explore what there is and think the task through before anything is done about it.',
  'Change nothing: no file, no setting, no system. Writing tools are refused.',
  'When the plan is ready, call ExitPlanMode with it.',
].join('\n');

/** What a writing tool is told while the session is in the mode `plan`. */
export const planRefusal =
  'This is not allowed while planning. Explore, then call ExitPlanMode with the plan.';

/** What is said to a plan that nobody is there to approve. */
export const planTaken = 'The plan was taken note of. Do not act on it: end here and give it as your answer.';

/** The plan that a call of ExitPlanMode carries; empty when it has none. */
export function planIn(input: Readonly<Record<string, unknown>>): string {
  return textOf(input['plan']).trim();
}

import { textOf } from '../events/fields.ts';

/** Additional instructions while a session is in `plan` mode. */
export const planInstruction: string = [
  'You are planning. Explore the project and think the task through before you change anything.',
  'Do not change any files, any settings or anything else on the system. Tool calls that make changes are denied.',
  'When the plan is ready, call ExitPlanMode with it.',
].join('\n');

/** The message for a call of a writing tool in `plan` mode. */
export const planRefusal =
  'This is not allowed while planning. Explore, then call ExitPlanMode with the plan.';

/** The response to a plan without a user to approve it. */
export const planTaken =
  'The plan was recorded. Do not carry it out: stop here and return it as your response.';

/** Returns the plan in a call of ExitPlanMode; empty if it has none. */
export function planIn(input: Readonly<Record<string, unknown>>): string {
  return textOf(input['plan']).trim();
}

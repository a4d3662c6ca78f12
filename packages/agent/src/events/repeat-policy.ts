import type { NoticeEvent } from './event.ts';
import type { State } from './state.ts';

/** Time between two equal turns after which they count as waiting, in milliseconds, without the time that the model takes. */
export const pollMs = 10_000;

/** The limits on repeated turns. */
export interface RepeatPolicy {
  /** Number of equal turns in a row that counts as no progress. */
  readonly repeats: number;
  /** Tools that are expected to return the same result repeatedly. */
  readonly mayRepeat: readonly string[];
}

/** Returns whether the latest turn was taken as often as the policy allows, or `times` times. */
export function repeatsItself(
  { batch, repeats }: State,
  policy: RepeatPolicy,
  times: number = policy.repeats,
): boolean {
  if (batch === undefined || repeats < times) return false;
  return !batch.calls.some((call) => policy.mayRepeat.includes(call.toolName));
}

/** Returns the notice that the model receives once, halfway to the limit, so that it can try something else. */
export function repeatNotice(state: State, policy: RepeatPolicy): Omit<NoticeEvent, 'type'> | undefined {
  const { repeats: maxRepeats } = policy;
  if (state.noticed || maxRepeats === Number.POSITIVE_INFINITY) return undefined;
  if (!repeatsItself(state, policy, Math.max(2, Math.ceil(maxRepeats / 2)))) return undefined;
  const text =
    `Your last ${state.repeats} turns made the same calls with the same arguments and got the same results. ` +
    `Do something else, or explain why you cannot. To wait for something, let at least ${pollMs / 1000} ` +
    `seconds pass between two checks. The work will be stopped after ${maxRepeats} such turns in a row.`;
  return { code: 'no_progress', text };
}

/** Returns the error message of a run that ended because it repeated a turn, with the settings that allow more. */
export function repeatedText(times: number): string {
  return (
    `The model made the same calls with the same results ${times} times in a row. ` +
    'Raise limits.repeats or set it to 0 (no limit), or set mayRepeat on a tool that is meant to be called like this.'
  );
}

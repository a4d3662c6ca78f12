import type { NoticeEvent } from './event.ts';
import type { State } from './state.ts';

/**
 * Time between two equal turns, in milliseconds, from which on they wait for something and do not count as
 * repeated. The time that the model takes is not part of it.
 */
export const pollMs = 10_000;

/** How often a turn may be repeated. */
export interface RepeatPolicy {
  /** A turn taken this often in a row makes no progress. */
  readonly repeats: number;
  /** Tools for which the same result again is nothing unusual. */
  readonly mayRepeat: readonly string[];
}

/** True when the latest turn was taken as often as the policy allows, or as often as given. */
export function repeatsItself(
  { batch, repeats }: State,
  policy: RepeatPolicy,
  times: number = policy.repeats,
): boolean {
  if (batch === undefined || repeats < times) return false;
  return !batch.calls.some((call) => policy.mayRepeat.includes(call.toolName));
}

/** What the model reads halfway to the end for want of progress, once, so that it can do something else. */
export function repeatNotice(state: State, policy: RepeatPolicy): Omit<NoticeEvent, 'type'> | undefined {
  const { repeats: most } = policy;
  if (state.noticed || most === Number.POSITIVE_INFINITY) return undefined;
  if (!repeatsItself(state, policy, Math.max(2, Math.ceil(most / 2)))) return undefined;
  const text =
    `Your last ${state.repeats} turns made the same calls with the same arguments and got the same results. ` +
    `Do something else, or say what keeps you from it. To wait for something, let at least ${pollMs / 1000} ` +
    `seconds pass between two checks. The work is stopped after ${most} such turns in a row.`;
  return { code: 'no_progress', text };
}

/** Why a run that repeated a turn this often has ended, and what allows more. */
export function repeatedText(times: number): string {
  return (
    `The model made the same calls with the same results ${times} times in a row. ` +
    'Raise limits.repeats (0 for no limit), or set mayRepeat on a tool that is meant to be called like this.'
  );
}

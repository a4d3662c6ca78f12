import type { ToolCallPart, ToolResultMessage } from '../values/message.ts';
import { timeOf } from '../values/runtime.ts';
import { sameBatch } from './batch.ts';
import { pollMs } from './repeat-policy.ts';
import type { State } from './state.ts';

/** Counts the turn whose calls have just completed. A turn that differs from the previous one restarts the count. */
export function countRepeats(state: State): void {
  const calls: ToolCallPart[] = [];
  const results: ToolResultMessage[] = [];
  for (const { part, result } of state.calls) {
    calls.push(part);
    if (result !== undefined) results.push(result);
  }
  const batch = { calls, results };
  const again = state.batch !== undefined && sameBatch(state.batch, batch);
  if (!again) {
    state.repeats = 0;
    state.noticed = false;
  }
  if (!again || !hasWaited(state)) state.repeats += 1;
  state.batch = batch;
  state.batchEnd = { time: state.time, modelMs: state.metrics.modelMs };
}

/** Resets the repeat count, because something new was said or done. */
export function forgetRepeats(state: State): void {
  state.batch = undefined;
  state.batchEnd = undefined;
  state.repeats = 0;
  state.noticed = false;
}

function hasWaited({ batchEnd, time, metrics }: State): boolean {
  if (batchEnd === undefined) return false;
  const elapsed = timeOf(time) - timeOf(batchEnd.time);
  return elapsed - (metrics.modelMs - batchEnd.modelMs) >= pollMs;
}

import type { ToolWait } from '../interfaces/tool.ts';
import type { RunContext } from './run-context.ts';

/** Maximum duration of one timer, in milliseconds. */
const maxTimer = 2 ** 31 - 1;

/**
 * Waits until a time, or until a message of the user arrives. Resolves with undefined if the run must stop, or if it is
 * performed in steps and this step is to end before the wait does.
 */
export async function waitFor(run: RunContext, until: number): Promise<ToolWait | undefined> {
  const { runtime, callsPerStep, waitEnded } = run.config;
  for (;;) {
    const endedAt = runtime.now();
    const endedBy = run.state.steering.length > 0 ? 'message' : endedAt >= until ? 'time' : waitEnded;
    if (run.isStopping) return undefined;
    if (endedBy !== undefined) return { until, endedAt, endedBy };
    if (callsPerStep === 1) return undefined;
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancelTimer = runtime.timer(Math.min(until - endedAt, maxTimer), resolve);
    run.wake = resolve;
    await promise;
    cancelTimer();
  }
}

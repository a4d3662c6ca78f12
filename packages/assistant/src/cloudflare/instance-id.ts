import type { Runtime } from '@cobbler/agent';
import type { WorkflowBinding } from './workflow.ts';

/** What a Workflow takes as the id of an instance, with a digit: words alone may be names of its methods. */
const instancePattern = /^(?=.*\d)[a-zA-Z0-9_][a-zA-Z0-9_-]{0,99}$/;

/** The one event that is ever sent: what there is to see stands in the database. */
export const wakeEvent = 'wake';

/** The id of a run's instance: its own where that can be one. */
export async function instanceId(runtime: Runtime, runId: string): Promise<string> {
  return instancePattern.test(runId) ? runId : `r-${await runtime.digest(runId)}`;
}

/** Has a run look into the database. One that is over, or that was never begun, is not woken. */
export async function wake(workflow: WorkflowBinding, runtime: Runtime, runId: string): Promise<void> {
  try {
    const instance = await workflow.get(await instanceId(runtime, runId));
    await instance.sendEvent({ type: wakeEvent, payload: null });
  } catch {
    // It also looks by itself from time to time.
  }
}

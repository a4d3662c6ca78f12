import type { Runtime } from '@cobbler/agent';
import type { WorkflowBinding } from './workflow.ts';

/** A valid id for a Workflow instance, with a digit: plain words may be names of its methods. */
const instancePattern = /^(?=.*\d)[a-zA-Z0-9_][a-zA-Z0-9_-]{0,99}$/;

/** The only event that is sent: the data is in the database. */
export const wakeEvent = 'wake';

/** The id of a run's instance: its own where that can be one. */
export async function instanceId(runtime: Runtime, runId: string): Promise<string> {
  return instancePattern.test(runId) ? runId : `r-${await runtime.digest(runId)}`;
}

/** Makes a run check the database. A run that has ended or never started is not woken. */
export async function wake(workflow: WorkflowBinding, runtime: Runtime, runId: string): Promise<void> {
  try {
    const instance = await workflow.get(await instanceId(runtime, runId));
    await instance.sendEvent({ type: wakeEvent, payload: null });
  } catch {
    // The run also checks periodically.
  }
}

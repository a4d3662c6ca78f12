import type { Runtime } from '@cobbler/agent';
import type { WorkflowBinding } from './workflow.ts';

/** Pattern of a valid id of a Workflow instance with a digit. An id without one could be the name of a method. */
const instancePattern = /^(?=.*\d)[a-zA-Z0-9_][a-zA-Z0-9_-]{0,99}$/;

/** Name of the only event. It contains no data, because the database does. */
export const wakeEvent = 'wake';

/** Returns the id of a run's instance: the run's own id if it is valid, otherwise a hash of it. */
export async function instanceId(runtime: Runtime, runId: string): Promise<string> {
  return instancePattern.test(runId) ? runId : `r-${await runtime.digest(runId)}`;
}

/** Makes a run check the database. Has no effect on a run that has ended or never started. */
export async function wake(binding: WorkflowBinding, runtime: Runtime, runId: string): Promise<void> {
  try {
    const instance = await binding.get(await instanceId(runtime, runId));
    await instance.sendEvent({ type: wakeEvent, payload: null });
  } catch {
    // The run also checks periodically.
  }
}

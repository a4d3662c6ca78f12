import type { Json, Runtime } from '@cobbler/agent';
import { AgentError, systemRuntime } from '@cobbler/agent';
import type { Routine } from '@cobbler/agent/runner';
import { pause, toSerializableError } from '@cobbler/agent/runner';
import { plainJson } from '@cobbler/agent/values';
import type { Sql } from '../storage/sql.ts';
import { insistently } from './insistence.ts';
import { wake } from './instance-id.ts';
import type { RunOutcome } from './run-table.ts';
import { D1RunTable } from './run-table.ts';
import type { WorkflowBinding, WorkflowParams, WorkflowStep } from './workflow.ts';
import { WorkflowSteps } from './workflow-steps.ts';

/** Dependencies of a Workflow instance. */
export interface WorkflowRunOptions {
  /** The payload of the instance's event. */
  readonly params: WorkflowParams;
  readonly step: WorkflowStep;
  readonly routine: Routine;
  /** The D1 database of the runner. */
  readonly sql: Sql;
  /** The binding of this Workflow. */
  readonly workflow: WorkflowBinding;
  /** Default: the real runtime. */
  readonly runtime?: Runtime;
  /** Interval at which a run checks whether it was cancelled, in milliseconds. Default 2,000. */
  readonly lookMs?: number;
  /**
   * Time after which a waiting run checks the database, in milliseconds. It doubles up to an hour. Default 60,000.
   */
  readonly pollMs?: number;
}

/** Time allowed for functions that ignore their signal to end, in milliseconds. */
const graceMs = 5000;

/**
 * Executes a run that `cloudflareRunner` started when it is its turn, as the body of a Workflow's `run`. If the
 * workflow fails, this function does not reject: the outcome is in the database.
 */
export async function runWorkflow(options: WorkflowRunOptions): Promise<void> {
  const { params, step, routine, sql, workflow, runtime = systemRuntime } = options;
  const { runId } = params;
  const { lookMs = 2000, pollMs = 60_000 } = options;
  const table = new D1RunTable(sql);
  const steps = new WorkflowSteps({ step, table, runtime, runId, lookMs, pollMs });
  const input = await steps.begin();
  if (input === undefined) return;
  const outcome = await outcomeOf(steps, runtime, () => routine(JSON.parse(input), steps));
  steps.end();
  if (outcome !== undefined) {
    await insistently(runtime, () => table.finish(runId, steps.epoch, outcome, runtime.now()));
    const next = await insistently(runtime, () => table.next(runId));
    if (next !== undefined) await wake(workflow, runtime, next);
  }
  await steps.settled(graceMs);
}

/** Returns the outcome of the routine; undefined if the run was stopped, because the cause is already recorded. */
async function outcomeOf(
  steps: WorkflowSteps,
  runtime: Runtime,
  work: () => Promise<Json>,
): Promise<RunOutcome | undefined> {
  const { signal, runId } = steps;
  const stopped = new Promise<undefined>((resolve) => {
    const stop = () => void pause(runtime, graceMs, never).then(() => resolve(undefined));
    signal.addEventListener('abort', stop, { once: true });
  });
  const ended = (async (): Promise<RunOutcome> => {
    try {
      return { state: 'done', text: plainJson(await work(), `The output of run ${runId}`) };
    } catch (thrown) {
      return { state: 'failed', text: JSON.stringify(toSerializableError(AgentError.from(thrown))) };
    }
  })();
  const outcome = await Promise.race([ended, stopped]);
  return signal.aborted ? undefined : outcome;
}

const never = new AbortController().signal;

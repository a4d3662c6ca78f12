import type { Runtime } from '@cobbler/agent';
import { AgentError, systemRuntime } from '@cobbler/agent';
import { amount, callable, read, record, withMethods } from '@cobbler/agent/input';
import type { CallEnd, StepCall, Steps, Workflow, WorkflowWait } from '@cobbler/agent/runner';
import { callWorkflow, pause, runCancelled } from '@cobbler/agent/runner';
import { backoff } from '@cobbler/agent/values';
import type { Sql } from '../storage/sql.ts';
import { readSql } from '../storage/sql.ts';
import { wake, wakeEvent } from './instance-id.ts';
import type { OwnRun } from './run-table.ts';
import { D1RunTable } from './run-table.ts';
import type { WorkflowBinding, WorkflowParams, WorkflowStep } from './workflow.ts';
import { readBinding, readParams, readSteps } from './workflow.ts';

/** Dependencies of an instance of a Cloudflare Workflow. */
export interface WorkflowRunOptions {
  /** The payload of the instance's event. */
  readonly params: WorkflowParams;
  readonly step: WorkflowStep;
  readonly workflow: Workflow;
  /** The D1 database of the runner. */
  readonly sql: Sql;
  /** The binding of this Cloudflare Workflow. */
  readonly binding: WorkflowBinding;
  /** Default: the real runtime. */
  readonly runtime?: Runtime;
  /** Interval at which a run checks whether it was cancelled, in milliseconds. Default 2,000. */
  readonly lookMs?: number;
  /**
   * Time after which a waiting run checks the database, in milliseconds. It doubles up to an hour. Default 60,000.
   */
  readonly pollMs?: number;
}

const readOptions = record<WorkflowRunOptions>(
  {
    params: readParams,
    step: readSteps,
    workflow: callable,
    sql: readSql,
    binding: readBinding,
    runtime: withMethods('now', 'timer', 'digest'),
    lookMs: amount,
    pollMs: amount,
  },
  ['params', 'step', 'workflow', 'sql', 'binding'],
);

/** Time allowed for functions that ignore their signal to end, in milliseconds. */
const graceMs = 5000;

const maxPollMs = 3_600_000;

/** Maximum duration of a wait that does not use the engine, in milliseconds. */
const shortMs = 1000;

/**
 * Engine settings for one call of the workflow: the retries are for its own failures, because steps count theirs. The
 * time limit is longer than any step, in milliseconds.
 */
const callConfig = {
  retries: { limit: 5, delay: 1000, backoff: 'exponential' },
  timeout: 7_200_000,
} as const;

/**
 * Executes a run that `cloudflareRunner` started when it is its turn, as the body of a Workflow's `run`. Each call of
 * the workflow, which ends at its first checkpoint, is a step of the engine. If the workflow fails, this function does
 * not reject: the outcome is in the database.
 * @throws AgentError `invalid` for an invalid option.
 */
export async function runWorkflow(options: WorkflowRunOptions): Promise<void> {
  const given = read(options, readOptions);
  const { params, sql, binding, runtime = systemRuntime } = given;
  const { runId } = params;
  const table = new D1RunTable(sql);
  const run = new WorkflowRun({ ...given, runtime }, table);
  await run.work();
  // Also if this execution did not end the run: the one that did may have crashed before this point.
  const next = await insistently(runtime, () => table.next(runId, runtime.now()));
  if (next !== undefined) await wake(binding, runtime, next);
  await run.waitForSteps();
}

/** The progress of a run as the engine keeps it: what it waits for, or that this execution is over. */
type Progress = { readonly waits: readonly WorkflowWait[] } | { readonly over: true };

const over: Progress = { over: true };

/**
 * A run on top of a Cloudflare Workflow. The state of the run and its signals are in the database; a wake event only
 * triggers a check. After the run is stopped, no step starts.
 */
class WorkflowRun {
  readonly #options: WorkflowRunOptions & { readonly runtime: Runtime };
  readonly #runtime: Runtime;
  readonly #table: D1RunTable;
  readonly #runId: string;
  readonly #controller = new AbortController();
  /** Running functions, including those whose results are no longer needed. */
  readonly #atWork = new Set<Promise<unknown>>();

  constructor(options: WorkflowRunOptions & { readonly runtime: Runtime }, table: D1RunTable) {
    this.#options = options;
    this.#runtime = options.runtime;
    this.#table = table;
    this.#runId = options.params.runId;
  }

  /** Works on the run until it ends, here or elsewhere. */
  async work(): Promise<void> {
    const own = await this.#turn();
    if (own === undefined) return;
    for (let count = 1; ; count += 1) {
      const call = () => this.#call(own);
      const progress: Progress = await this.#options.step.do(`call/${count}`, callConfig, call);
      if ('over' in progress || !(await this.#isOver(own, count, progress.waits))) return;
    }
  }

  /** Resolves when no function is running, or after the time limit: remaining functions end with their request. */
  async waitForSteps(): Promise<void> {
    if (this.#atWork.size === 0) return;
    const late = new AbortController();
    const all = Promise.allSettled([...this.#atWork]).then(() => late.abort());
    await Promise.race([all, pause(this.#runtime, graceMs, late.signal).catch(() => {})]);
  }

  /** Waits for the run's turn and claims it; undefined if the run ends first. */
  async #turn(): Promise<OwnRun | undefined> {
    for (let turn = 1; ; turn += 1) {
      const own = await insistently(this.#runtime, () => this.#table.claim(this.#runId, this.#runtime.now()));
      if (own !== undefined) return own;
      const stored = await this.#readStored();
      if (stored?.state !== 'queued' && stored?.state !== 'running') return undefined;
      const left = stored.dueAt - this.#runtime.now();
      await this.#idle(`turn/${turn}`, turn, left > 0 ? left : undefined);
    }
  }

  /** Calls the workflow once, and records its end. */
  async #call(own: OwnRun): Promise<Progress> {
    const stopLooking = this.#lookOften(own);
    try {
      await this.#check(own);
      const end = await this.#callOnce(own);
      if (end === undefined) return over;
      if (end.state === 'waiting') return { waits: end.waits };
      const now = this.#runtime.now();
      await insistently(this.#runtime, () => this.#table.finish(this.#runId, own.epoch, end, now));
      return over;
    } catch (thrown) {
      if (this.#controller.signal.aborted) return over;
      throw thrown;
    } finally {
      stopLooking();
    }
  }

  /** Returns the end of a call; undefined if the run was stopped, because the cause is already recorded. */
  async #callOnce(own: OwnRun): Promise<CallEnd | undefined> {
    const { workflow } = this.#options;
    const { signal } = this.#controller;
    const ended = callWorkflow({
      workflow: (input, steps) => workflow(input, this.#trackRunning(steps)),
      runId: this.#runId,
      input: own.input,
      runtime: this.#runtime,
      signal,
      signalled: (name) => insistently(this.#runtime, () => this.#table.signalled(this.#runId, name)),
      mayStart: () => this.#check(own),
      endsAtCheckpoint: true,
    });
    const stopped = new Promise<undefined>((resolve) => {
      const stop = () => void pause(this.#runtime, graceMs, never).then(() => resolve(undefined));
      signal.addEventListener('abort', stop, { once: true });
    });
    const end = await Promise.race([ended, stopped]);
    return signal.aborted ? undefined : end;
  }

  /** Returns the steps, which then also remember the functions that are running. */
  #trackRunning(steps: Steps): Steps {
    const counted =
      <Value>(step: (call: StepCall) => Value | Promise<Value>) =>
      (call: StepCall): Promise<Value> => {
        const work = (async () => await step(call))();
        this.#atWork.add(work);
        const done = () => this.#atWork.delete(work);
        work.then(done, done);
        return work;
      };
    return {
      runId: steps.runId,
      signal: steps.signal,
      run: (name, step, settings) => steps.run(name, counted(step), settings),
      waitFor: (name, options) => steps.waitFor(name, options),
      checkpoint: () => steps.checkpoint(),
    };
  }

  /**
   * Resolves when one of the waits is over: the database then has its signal, or the note that none came in time. False
   * if the run has ended or runs elsewhere.
   */
  async #isOver(own: OwnRun, count: number, waits: readonly WorkflowWait[]): Promise<boolean> {
    if (waits.length === 0) return true;
    for (let turn = 1; ; turn += 1) {
      const stored = await this.#readStored();
      if (stored?.state !== 'running' || stored.epoch !== own.epoch) return false;
      let left: number | undefined;
      for (const { name, until } of waits) {
        const found = await insistently(this.#runtime, () => this.#table.signalled(this.#runId, name));
        if (found !== undefined) return true;
        if (until === undefined) continue;
        const rest = until - this.#runtime.now();
        if (rest <= 0) {
          // The first of an arriving signal and the end of the wait counts, permanently.
          await insistently(this.#runtime, () => this.#table.signal(this.#runId, name, null));
          return true;
        }
        left = Math.min(left ?? rest, rest);
      }
      await this.#idle(`wait/${count}/${turn}`, turn, left);
    }
  }

  /** Waits for a wake event, at most for a duration, and longer with each turn. */
  async #idle(name: string, turn: number, maxMs: number | undefined): Promise<void> {
    const { lookMs = 2000, pollMs = 60_000, step } = this.#options;
    const ms = Math.min(maxMs ?? maxPollMs, backoff({ baseMs: pollMs, maxMs: maxPollMs }, turn - 1));
    if (ms <= shortMs) return await pause(this.#runtime, Math.min(ms, lookMs), never);
    await step.waitForEvent(name, { type: wakeEvent, timeout: Math.ceil(ms) }).catch(() => {});
  }

  /** Checks at intervals whether the run may continue. Returns a function that ends the checks. */
  #lookOften(own: OwnRun): () => void {
    const { lookMs = 2000 } = this.#options;
    let takeBack: (() => void) | undefined;
    let isOver = false;
    const look = () => {
      takeBack = this.#runtime.timer(lookMs, () => {
        const checked = this.#check(own).catch(() => {});
        void checked.then(() => isOver || this.#controller.signal.aborted || look());
      });
    };
    look();
    return () => {
      isOver = true;
      takeBack?.();
    };
  }

  #readStored() {
    return insistently(this.#runtime, () => this.#table.storedRun(this.#runId));
  }

  /** @throws AgentError if the run has ended or runs elsewhere; it is then stopped. */
  async #check(own: OwnRun): Promise<void> {
    const stored = await this.#readStored();
    if (stored?.state === 'running' && stored.epoch === own.epoch) return;
    const reason = stored?.state === 'cancelled' ? runCancelled(this.#runId) : fencedError(this.#runId);
    this.#controller.abort(reason);
    throw reason;
  }
}

const never = new AbortController().signal;

function fencedError(runId: string): AgentError {
  const message = `This instance no longer owns run ${runId}: the run was restarted or has ended.`;
  return new AgentError({ kind: 'aborted', code: 'fenced', message });
}

/** Maximum number of attempts of one call of the database, and the first delay between two, in milliseconds. */
const maxAttempts = 6;
const firstPauseMs = 200;

/**
 * Repeats work that fails because the database is briefly busy, after 0.2 s, 0.4 s and so on, for six seconds. Only
 * for work that is safe to repeat.
 */
async function insistently<Value>(runtime: Runtime, work: () => Promise<Value>): Promise<Value> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (thrown) {
      if (attempt >= maxAttempts || !AgentError.from(thrown).retryable) throw thrown;
      await pause(runtime, backoff({ baseMs: firstPauseMs }, attempt - 1), never);
    }
  }
}

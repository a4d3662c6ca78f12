import type { Json, Runtime } from '@cobbler/agent';
import { AgentError, systemRuntime } from '@cobbler/agent';
import { amount, read, record, signal, text, withMethods } from '@cobbler/agent/input';
import type { Runner, StartOptions, WorkflowStatus } from '@cobbler/agent/runner';
import {
  checkRunId,
  outputOf,
  pause,
  readStart,
  runBusy,
  runnerClosed,
  statusOf,
  waitAborted,
} from '@cobbler/agent/runner';
import { plainJson } from '@cobbler/agent/values';
import { readTime } from '../storage/chat-store.ts';
import type { Sql } from '../storage/sql.ts';
import { readSql } from '../storage/sql.ts';
import { instanceId, wake } from './instance-id.ts';
import { D1RunTable } from './run-table.ts';
import type { WorkflowBinding } from './workflow.ts';
import { readBinding } from './workflow.ts';

/** The bindings with which `cloudflareRunner` starts and finds runs. */
export interface CloudflareRunnerOptions {
  /** The binding of the Cloudflare Workflow whose `run` is `runWorkflow`. */
  readonly binding: WorkflowBinding;
  /** D1, with the assistant's migrations applied. */
  readonly sql: Sql;
  /** Default: the real runtime. */
  readonly runtime?: Runtime;
  /** Polling interval of `result`, in milliseconds. Default 500. */
  readonly lookMs?: number;
}

/** A runner on Cloudflare Workflows. Closing it does not stop runs, which belong to the engine. */
export interface CloudflareRunner extends Runner {
  /**
   * Checks runs that were unchanged for this time, in milliseconds: wakes waiting runs, starts runs that were
   * recorded but never started, and ends runs that the engine has abandoned. Call it from a scheduled task.
   * @returns the number of checked runs
   */
  sweep(olderThanMs: number): Promise<number>;
  /** Deletes runs that ended before a time in milliseconds since 1970. Returns their number. */
  prune(before: number): Promise<number>;
}

/** Maximum number of runs per sweep, because a worker can make only a limited number of calls. */
const sweptAtOnce = 100;

/** States of ended instances. */
const ended: ReadonlySet<string> = new Set(['errored', 'terminated', 'complete']);

const readOptions = record<CloudflareRunnerOptions>(
  {
    binding: readBinding,
    sql: readSql,
    runtime: withMethods('now', 'timer', 'digest'),
    lookMs: amount,
  },
  ['binding', 'sql'],
);

const readWait = record<{ readonly signal?: AbortSignal }>({ signal });

/**
 * Runs a workflow on Cloudflare Workflows. D1 stores the runs, their order, signals and outcomes; the engine calls `runWorkflow`, which executes each run and continues it after a crash.
 */
export function cloudflareRunner(options: CloudflareRunnerOptions): CloudflareRunner {
  return new RunnerOnWorkflows(read(options, readOptions));
}

class RunnerOnWorkflows implements CloudflareRunner {
  readonly durable = true;
  readonly #binding: WorkflowBinding;
  readonly #table: D1RunTable;
  readonly #runtime: Runtime;
  readonly #lookMs: number;
  readonly #closing = new AbortController();

  constructor({ binding, sql, runtime = systemRuntime, lookMs = 500 }: CloudflareRunnerOptions) {
    this.#binding = binding;
    this.#table = new D1RunTable(sql);
    this.#runtime = runtime;
    this.#lookMs = lookMs;
  }

  async start(input: Json, options: StartOptions): Promise<boolean> {
    this.#checkOpen();
    const { maxAhead, ...run } = readStart(input, options);
    const { runId, key } = run;
    const { isNew, isOpen, isThere } = await this.#table.start(run, maxAhead, this.#runtime.now());
    if (!isThere) throw runBusy(runId, key, maxAhead);
    // Also for an existing run: the process that created it may have crashed before starting it.
    if (isOpen) await this.#begin(runId);
    return isNew;
  }

  async signal(runId: string, name: string, value: Json): Promise<boolean> {
    this.#checkOpen();
    checkRunId(runId);
    read(name, text, 'name');
    const json = plainJson(value, `The signal ${JSON.stringify(name)}`);
    const isTaken = await this.#table.signal(runId, name, json);
    if (isTaken) await wake(this.#binding, this.#runtime, runId);
    return isTaken;
  }

  async cancel(runId: string): Promise<boolean> {
    this.#checkOpen();
    checkRunId(runId);
    if (!(await this.#table.cancel(runId, this.#runtime.now()))) return false;
    await wake(this.#binding, this.#runtime, runId);
    await this.#wakeNext(runId);
    return true;
  }

  async status(runId: string): Promise<WorkflowStatus> {
    this.#checkOpen();
    checkRunId(runId);
    return statusOf(await this.#table.storedRun(runId));
  }

  async result(runId: string, options: { readonly signal?: AbortSignal } = {}): Promise<Json> {
    const { signal } = read(options, readWait);
    for (;;) {
      const output = outputOf(runId, await this.status(runId));
      if (output !== undefined) return output;
      const ends = [this.#closing.signal, ...(signal === undefined ? [] : [signal])];
      await pause(this.#runtime, this.#lookMs, AbortSignal.any(ends)).catch(() => {});
      if (signal?.aborted) throw waitAborted(runId, signal.reason);
    }
  }

  async sweep(olderThanMs: number): Promise<number> {
    this.#checkOpen();
    const before = this.#runtime.now() - read(olderThanMs, amount, 'olderThanMs');
    const runs = await this.#table.openSince(before, sweptAtOnce);
    for (const runId of runs) await this.#seeAfter(runId);
    return runs.length;
  }

  async prune(before: number): Promise<number> {
    this.#checkOpen();
    return await this.#table.prune(read(before, readTime, 'before'));
  }

  async close(): Promise<void> {
    this.#closing.abort(runnerClosed());
  }

  async #seeAfter(runId: string): Promise<void> {
    const status = await this.#engineStatus(runId);
    if (status === undefined) return await this.#begin(runId);
    if (!ended.has(status)) return await wake(this.#binding, this.#runtime, runId);
    const error = new AgentError({
      kind: 'agent',
      code: 'engine',
      message: `Cloudflare ended the Workflow instance of run ${runId} (${status}) before the run ended.`,
    });
    if (await this.#table.fail(runId, JSON.stringify(error), this.#runtime.now()))
      await this.#wakeNext(runId);
  }

  async #engineStatus(runId: string): Promise<string | undefined> {
    try {
      const instance = await this.#binding.get(await instanceId(this.#runtime, runId));
      return (await instance.status()).status;
    } catch (error) {
      if (messageIncludes(error, 'not_found')) return undefined;
      throw engineRefused(runId, error);
    }
  }

  async #begin(runId: string): Promise<void> {
    try {
      const id = await instanceId(this.#runtime, runId);
      await this.#binding.create({ id, params: { runId } });
    } catch (error) {
      if (!messageIncludes(error, 'already_exists')) throw engineRefused(runId, error);
      // A caller that retries may know that the run exists: a local engine continues only when it is woken.
      await wake(this.#binding, this.#runtime, runId);
    }
  }

  async #wakeNext(runId: string): Promise<void> {
    const next = await this.#table.next(runId, this.#runtime.now());
    if (next !== undefined) await wake(this.#binding, this.#runtime, next);
  }

  #checkOpen(): void {
    if (this.#closing.signal.aborted) throw runnerClosed();
  }
}

/**
 * Returns true if an error of the engine contains a phrase, such as `instance.not_found`. These errors have no codes.
 */
function messageIncludes(error: unknown, what: string): boolean {
  return AgentError.from(error).message.includes(what);
}

function engineRefused(runId: string, error: unknown): AgentError {
  const { message } = AgentError.from(error);
  return new AgentError({
    kind: 'network',
    code: 'engine',
    retryable: true,
    message: `The Workflow rejected run ${runId}: ${message}`,
  });
}

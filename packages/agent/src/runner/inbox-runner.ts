import { AgentError } from '../values/errors.ts';
import { callable, read, record, signal, withMethods } from '../values/input.ts';
import { shown } from '../values/invalid-value.ts';
import type { Json } from '../values/json.ts';
import { plainJson } from '../values/json-text.ts';
import type { Runtime } from '../values/runtime.ts';
import { runBusy, runCancelled, runnerClosed, waitAborted } from './attempts.ts';
import type { ClaimedRun, Freed, Inbox } from './inbox.ts';
import { fencedRun, outputOf, readStart, statusOf } from './inbox.ts';
import { LiveRun } from './live-run.ts';
import type { Runner, StartOptions, Workflow, WorkflowStatus } from './runner.ts';

/** Number of checks after which the inbox is read even if nothing was written: a process that crashes writes nothing. */
const thoroughEvery = 5;

/** Maximum duration of one timer, in milliseconds. */
const maxTimer = 2 ** 31 - 1;

/** The dependencies of an {@link InboxRunner}. */
export interface InboxRunnerOptions {
  readonly inbox: Inbox;
  readonly workflow: Workflow;
  readonly runtime: Runtime;
}

const runnerOptions = record<InboxRunnerOptions>(
  {
    inbox: withMethods('put', 'claimDue', 'release', 'ack', 'cancel', 'signal', 'standing', 'close'),
    workflow: callable,
    runtime: withMethods('now', 'timer', 'digest'),
  },
  ['inbox', 'workflow', 'runtime'],
);

const resultOptions = record<{ readonly signal?: AbortSignal }>({ signal });

/** A runner that claims runs from an inbox and works on them in this process. */
export class InboxRunner implements Runner {
  readonly durable: boolean;
  readonly #options: InboxRunnerOptions;
  readonly #inbox: Inbox;
  readonly #live = new Map<string, LiveRun>();
  /** Runs whose inbox writes failed, and that must be released before another runner can take them over. */
  readonly #strays = new Set<ClaimedRun>();
  /** Callbacks to call when a run may have ended. */
  readonly #watchers = new Map<string, Set<() => void>>();
  /** Functions that cancel the timers of runs that are not due yet. */
  readonly #due = new Set<() => void>();
  #takeLookBack: () => void = () => {};
  #looks = 0;
  #closed: Promise<void> | undefined;

  constructor(options: InboxRunnerOptions) {
    const own = read(options, runnerOptions);
    this.#options = own;
    this.#inbox = own.inbox;
    this.durable = own.inbox.durable;
    if (this.durable) void this.#takeDue();
    this.#lookLater();
  }

  async start(input: Json, options: StartOptions): Promise<boolean> {
    this.#checkOpen();
    const { maxAhead, ...run } = readStart(input, options);
    const { runId, key, dueAt } = run;
    const put = await this.#inbox.put(run, maxAhead);
    if (put.result === 'busy') throw runBusy(runId, key, maxAhead);
    if (put.result === 'exists') return false;
    if (put.run !== undefined) this.#begin(put.run);
    else if (dueAt !== undefined) this.#takeAt(dueAt);
    return true;
  }

  async signal(runId: string, name: string, value: Json): Promise<boolean> {
    this.#checkOpen();
    const text = plainJson(value, `The signal ${shown(name)}`);
    const isAccepted = await this.#inbox.signal(runId, name, text);
    if (isAccepted && this.#closed === undefined) this.#live.get(runId)?.lookForSignals();
    return isAccepted;
  }

  async cancel(runId: string): Promise<boolean> {
    this.#checkOpen();
    const freed = await this.#inbox.cancel(runId);
    if (freed.isOver) this.#drop(runId, runCancelled(runId));
    this.#continueQueue(runId, freed);
    return freed.isOver;
  }

  async status(runId: string): Promise<WorkflowStatus> {
    this.#checkOpen();
    return statusOf(await this.#inbox.standing(runId));
  }

  async result(runId: string, options: { readonly signal?: AbortSignal } = {}): Promise<Json> {
    const { signal } = read(options, resultOptions);
    for (;;) {
      this.#checkOpen();
      if (signal?.aborted) throw waitAborted(runId, signal.reason);
      // Listens before it reads, so that no change in between is missed.
      const watcher = this.#watch(runId, signal);
      try {
        const output = outputOf(runId, statusOf(await this.#inbox.standing(runId)));
        if (output !== undefined) return output;
        await watcher.comes;
      } finally {
        watcher.stop();
      }
    }
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#takeLookBack();
    for (const takeBack of this.#due) takeBack();
    const live = [...this.#live.values()];
    this.#live.clear();
    for (const run of live) run.stop(runnerClosed('aborted'));
    for (const runId of [...this.#watchers.keys()]) this.#wakeWatchers(runId);
    await this.#inbox.close();
  }

  #begin(claimed: ClaimedRun): void {
    // Closing the inbox releases it.
    if (this.#closed !== undefined) return;
    const { inbox, runtime } = this.#options;
    const live = new LiveRun({ claimed, inbox, runtime });
    this.#live.set(claimed.runId, live);
    void this.#work(live);
  }

  async #work(live: LiveRun): Promise<void> {
    const { claimed } = live;
    const isMine = () => this.#live.get(claimed.runId) === live;
    try {
      const outcome = await live.work(this.#options.workflow);
      if (!isMine()) return;
      const freed = await this.#inbox.ack(claimed, outcome);
      if (isMine()) this.#live.delete(claimed.runId);
      this.#continueQueue(claimed.runId, freed);
    } catch (thrown) {
      if (isMine()) await this.#lose(live, AgentError.from(thrown));
    }
  }

  #continueQueue(runId: string, { next }: Freed): void {
    this.#wakeWatchers(runId);
    if (next !== undefined) this.#begin(next);
  }

  /** Stops a run whose write the inbox rejected: another runner has the run, or it resumes later. */
  async #lose({ claimed }: LiveRun, error: AgentError): Promise<void> {
    const { runId } = claimed;
    if (error.code !== 'fenced') this.#strays.add(claimed);
    const reason = error.code === 'fenced' ? this.#fencedReason(runId).catch(() => error) : error;
    this.#drop(runId, await reason);
  }

  async #fencedReason(runId: string): Promise<AgentError> {
    const runRecord = await this.#inbox.standing(runId);
    return runRecord?.state === 'cancelled' ? runCancelled(runId) : fencedRun(runId);
  }

  #drop(runId: string, reason: AgentError): void {
    const live = this.#live.get(runId);
    this.#live.delete(runId);
    live?.stop(reason);
  }

  /** Takes the runs that are free and due. A failure is retried at the next check. */
  async #takeDue(): Promise<void> {
    try {
      for (const stray of this.#strays) {
        await this.#inbox.release(stray);
        this.#strays.delete(stray);
      }
      for (;;) {
        const runs = await this.#inbox.claimDue();
        for (const run of runs) this.#begin(run);
        if (runs.length === 0 || this.#closed !== undefined) return;
      }
    } catch {
      // Callers of `start`, `signal` and `status` get the error.
    }
  }

  #lookLater(): void {
    const { lookMs } = this.#inbox;
    if (lookMs === undefined || this.#closed !== undefined) return;
    this.#takeLookBack = this.#options.runtime.timer(lookMs, () => {
      void this.#look().finally(() => this.#lookLater());
    });
  }

  /** Checks what other processes did with the runs of this one, and resumes those of dead processes. */
  async #look(): Promise<void> {
    try {
      this.#looks += 1;
      if (!(await this.#inbox.hasNews()) && this.#looks % thoroughEvery !== 0) return;
      for (const live of [...this.#live.values()]) await this.#check(live);
      for (const runId of [...this.#watchers.keys()]) this.#wakeWatchers(runId);
    } catch {
      // The next check may succeed.
    }
    await this.#takeDue();
  }

  async #check(live: LiveRun): Promise<void> {
    const { runId, epoch } = live.claimed;
    const runRecord = await this.#inbox.standing(runId);
    if (runRecord?.state === 'running' && runRecord.epoch === epoch) return live.lookForSignals();
    if (this.#live.get(runId) === live) this.#drop(runId, await this.#fencedReason(runId));
  }

  /** Takes the runs that are due at a time, then. */
  #takeAt(dueAt: number): void {
    const left = dueAt - this.#options.runtime.now();
    if (left <= 0 || this.#closed !== undefined) return;
    const takeBack = this.#options.runtime.timer(Math.min(left, maxTimer), () => {
      this.#due.delete(takeBack);
      if (left > maxTimer) return this.#takeAt(dueAt);
      void this.#takeDue();
    });
    this.#due.add(takeBack);
  }

  #wakeWatchers(runId: string): void {
    for (const look of this.#watchers.get(runId) ?? []) look();
  }

  /** Listens until a run may have changed or its caller stops waiting. */
  #watch(runId: string, signal: AbortSignal | undefined): { comes: Promise<void>; stop: () => void } {
    const watchers = this.#watchers.get(runId) ?? new Set();
    this.#watchers.set(runId, watchers);
    const { promise, resolve } = Promise.withResolvers<void>();
    const look = () => resolve();
    watchers.add(look);
    signal?.addEventListener('abort', look, { once: true });
    const stop = () => {
      signal?.removeEventListener('abort', look);
      watchers.delete(look);
      if (watchers.size === 0) this.#watchers.delete(runId);
    };
    return { comes: promise, stop };
  }

  #checkOpen(): void {
    if (this.#closed !== undefined) throw runnerClosed();
  }
}

import type { ErrorData } from '../values/errors.ts';
import { AgentError } from '../values/errors.ts';
import type { Json } from '../values/json.ts';
import { plainJson } from '../values/json-text.ts';
import type { Runtime } from '../values/runtime.ts';
import type { ClaimedRun, Freed, Journal, RunEndState } from './journal.ts';
import { fencedRun } from './journal.ts';
import { LiveRun } from './run-execution.ts';
import type { Routine, RoutineStatus, Runner, StartOptions } from './runner.ts';
import { checkRunId, runBusy, runCancelled, runNotFound, runnerClosed, waitAborted } from './step.ts';

/**
 * Number of checks after which the journal is read even if nothing was written, because a process that dies writes
 * nothing.
 */
const thoroughEvery = 5;

export interface JournaledRunnerOptions {
  readonly journal: Journal;
  readonly routine: Routine;
  readonly runtime: Runtime;
  /** Version of the workflow, stored with each run. */
  readonly version: string;
  /** Older versions whose runs this workflow can also resume. */
  readonly replays: readonly string[];
}

/** A runner on a journal of this machine. */
export class JournaledRunner implements Runner {
  readonly durable: boolean;
  readonly #options: JournaledRunnerOptions;
  readonly #journal: Journal;
  readonly #live = new Map<string, LiveRun>();
  /** Runs whose journal writes failed, and that must be released before another runner can take them over. */
  readonly #strays = new Set<ClaimedRun>();
  /** Callbacks to call when a run may have ended. */
  readonly #watchers = new Map<string, Set<() => void>>();
  #takeLookBack: () => void = () => {};
  #looks = 0;
  #closed: Promise<void> | undefined;

  constructor(options: JournaledRunnerOptions) {
    this.#options = options;
    this.#journal = options.journal;
    this.durable = options.journal.durable;
    if (this.durable) void this.#takeFree();
    this.#lookLater();
  }

  async start(input: Json, { runId, key, whenBusy = 'queue' }: StartOptions): Promise<boolean> {
    this.#checkOpen();
    checkRunId(runId);
    const { version } = this.#options;
    const run = { runId, key, version, input: plainJson(input, `The input of run ${runId}`) };
    const started = await this.#journal.start(run, whenBusy === 'reject');
    if (started.result === 'busy') throw runBusy(runId, key);
    if (started.result === 'exists') return false;
    if (started.run !== undefined) this.#begin(started.run);
    return true;
  }

  async signal(runId: string, name: string, value: Json): Promise<boolean> {
    this.#checkOpen();
    const text = plainJson(value, `The signal ${JSON.stringify(name)}`);
    const isTaken = await this.#journal.signal(runId, name, text);
    if (isTaken && this.#closed === undefined) this.#live.get(runId)?.lookForSignals();
    return isTaken;
  }

  async cancel(runId: string): Promise<boolean> {
    this.#checkOpen();
    const freed = await this.#journal.cancel(runId);
    if (freed.isOver) this.#drop(runId, runCancelled(runId));
    this.#goOn(runId, freed);
    return freed.isOver;
  }

  async status(runId: string): Promise<RoutineStatus> {
    this.#checkOpen();
    const standing = this.#journal.standing(runId);
    if (standing === undefined) return { state: 'unknown' };
    if (standing.state === 'done') return { state: 'done', output: JSON.parse(standing.text) };
    if (standing.state === 'failed') return { state: 'failed', error: JSON.parse(standing.text) };
    return { state: standing.state };
  }

  async result(runId: string, { signal }: { readonly signal?: AbortSignal } = {}): Promise<Json> {
    for (;;) {
      this.#checkOpen();
      if (signal?.aborted) throw waitAborted(runId, signal.reason);
      const standing = this.#journal.standing(runId);
      if (standing === undefined) throw runNotFound(runId);
      if (standing.state === 'done') return JSON.parse(standing.text);
      if (standing.state === 'failed') throw new AgentError(JSON.parse(standing.text) as ErrorData);
      if (standing.state === 'cancelled') throw runCancelled(runId);
      await this.#news(runId, signal);
    }
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#takeLookBack();
    const live = [...this.#live.values()];
    this.#live.clear();
    for (const run of live) run.stop(runnerClosed('aborted'));
    for (const runId of [...this.#watchers.keys()]) this.#tell(runId);
    await this.#journal.close();
  }

  #begin(claimed: ClaimedRun): void {
    // Closing the journal releases it.
    if (this.#closed !== undefined) return;
    const { journal, runtime, version, replays } = this.#options;
    if (claimed.version !== version && !replays.includes(claimed.version))
      return void this.#finish(claimed, wrongVersion(claimed, version));
    const onRefused = (error: AgentError) => this.#lose(claimed, error);
    const live = new LiveRun({ claimed, journal, runtime, onRefused });
    this.#live.set(claimed.runId, live);
    void this.#work(live);
  }

  async #work(live: LiveRun): Promise<void> {
    const outcome = await live.work(this.#options.routine);
    if (live.isStopped) return;
    live.end();
    await this.#finish(live.claimed, outcome);
  }

  async #finish(claimed: ClaimedRun, outcome: RunEndState): Promise<void> {
    try {
      const freed = await this.#journal.finish(claimed, outcome);
      if (this.#live.get(claimed.runId)?.claimed === claimed) this.#live.delete(claimed.runId);
      this.#goOn(claimed.runId, freed);
    } catch (error) {
      this.#lose(claimed, AgentError.from(error));
    }
  }

  #goOn(runId: string, { next }: Freed): void {
    this.#tell(runId);
    if (next !== undefined) this.#begin(next);
  }

  /** Stops a run whose write the journal rejected: another runner has the run, or it resumes later. */
  #lose(claimed: ClaimedRun, error: AgentError): void {
    if (this.#closed !== undefined) return;
    if (error.code !== 'fenced') this.#strays.add(claimed);
    if (this.#live.get(claimed.runId)?.claimed !== claimed) return;
    const isCancelled = error.code === 'fenced' && this.#isCancelled(claimed.runId);
    this.#drop(claimed.runId, isCancelled ? runCancelled(claimed.runId) : error);
  }

  #isCancelled(runId: string): boolean {
    return this.#journal.standing(runId)?.state === 'cancelled';
  }

  #drop(runId: string, reason: AgentError): void {
    const live = this.#live.get(runId);
    this.#live.delete(runId);
    live?.stop(reason);
  }

  /** Takes over free runs. A failure is retried at the next check. */
  async #takeFree(): Promise<void> {
    try {
      for (const stray of this.#strays) {
        await this.#journal.release(stray);
        this.#strays.delete(stray);
      }
      for (;;) {
        const runs = await this.#journal.claimFree();
        for (const run of runs) this.#begin(run);
        if (runs.length === 0 || this.#closed !== undefined) return;
      }
    } catch {
      // Callers of `start`, `signal` and `status` get the error.
    }
  }

  #lookLater(): void {
    const { lookMs } = this.#journal;
    if (lookMs === undefined || this.#closed !== undefined) return;
    this.#takeLookBack = this.#options.runtime.timer(lookMs, () => {
      void this.#look().finally(() => this.#lookLater());
    });
  }

  /** Checks what other processes did with the runs of this one, and resumes those of dead processes. */
  async #look(): Promise<void> {
    try {
      this.#looks += 1;
      if (!this.#journal.hasNews() && this.#looks % thoroughEvery !== 0) return;
      for (const live of [...this.#live.values()]) this.#check(live);
      for (const runId of [...this.#watchers.keys()]) this.#tell(runId);
    } catch {
      // The next check may succeed.
    }
    await this.#takeFree();
  }

  #check(live: LiveRun): void {
    const { runId, epoch } = live.claimed;
    const standing = this.#journal.standing(runId);
    if (standing?.state === 'running' && standing.epoch === epoch) return live.lookForSignals();
    this.#drop(runId, standing?.state === 'cancelled' ? runCancelled(runId) : fencedRun(runId));
  }

  #tell(runId: string): void {
    for (const look of this.#watchers.get(runId) ?? []) look();
  }

  /** Resolves when a run may have changed or its caller stops waiting. */
  #news(runId: string, signal: AbortSignal | undefined): Promise<void> {
    const watchers = this.#watchers.get(runId) ?? new Set();
    this.#watchers.set(runId, watchers);
    return new Promise((resolve) => {
      const look = () => {
        watchers.delete(look);
        if (watchers.size === 0) this.#watchers.delete(runId);
        signal?.removeEventListener('abort', look);
        resolve();
      };
      watchers.add(look);
      signal?.addEventListener('abort', look, { once: true });
    });
  }

  #checkOpen(): void {
    if (this.#closed !== undefined) throw runnerClosed();
  }
}

function wrongVersion({ runId, version }: ClaimedRun, own: string): RunEndState {
  const message = `Run ${runId} was started by version ${JSON.stringify(version)} of its workflow, and version ${JSON.stringify(own)} cannot continue it. Start it again with another id.`;
  const error = new AgentError({ kind: 'invalid', code: 'routine_version', message });
  return { state: 'failed', text: JSON.stringify(error) };
}

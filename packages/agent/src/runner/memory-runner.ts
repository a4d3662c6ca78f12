import type { Json } from '../values/json.ts';
import type { Runtime } from '../values/runtime.ts';
import { systemRuntime } from '../values/runtime.ts';
import type {
  ClaimedRun,
  Freed,
  Journal,
  JournalEntry,
  NewRun,
  RunEndState,
  RunRecord,
  RunRetention,
  Started,
} from './journal.ts';
import { fencedRun, filledRetention } from './journal.ts';
import { JournaledRunner } from './local-runner.ts';
import type { Routine, Runner } from './runner.ts';

/** Options of {@link memoryRunner}. */
export interface MemoryRunnerOptions<Input extends Json, Output extends Json> {
  readonly routine: Routine<Input, Output>;
  /** Clock and randomness. Default: the real ones. */
  readonly runtime?: Runtime;
  /** Retention of ended runs. Default: 30 days, and at most 10,000 runs. */
  readonly retention?: RunRetention;
}

/** Runs workflows in this process. Runs end with the process, so use it for tests and for work that can be lost. */
export function memoryRunner<Input extends Json, Output extends Json>({
  routine,
  runtime = systemRuntime,
  retention,
}: MemoryRunnerOptions<Input, Output>): Runner<Input, Output> {
  const journal = new MemoryJournal(runtime, filledRetention(retention));
  // The input of a run is what `start` received, and its output is what the workflow returned.
  const options = { journal, runtime, routine: routine as unknown as Routine, version: '', replays: [] };
  return new JournaledRunner(options) as unknown as Runner<Input, Output>;
}

interface KeptRun {
  readonly claimed: ClaimedRun;
  readonly key: string | undefined;
  readonly entries: Map<string, JournalEntry>;
  readonly signals: Map<string, string | null>;
  standing: RunRecord;
  ended: number;
}

class MemoryJournal implements Journal {
  readonly durable = false;
  readonly #runtime: Runtime;
  readonly #retention: { readonly maxAgeMs: number; readonly maxRuns: number };
  readonly #runs = new Map<string, KeptRun>();
  /** Unfinished runs by key, in the order of their start. */
  readonly #queues = new Map<string, KeptRun[]>();
  /** Ended runs, in the order of their end. */
  readonly #ended = new Set<KeptRun>();
  #epoch = 0;

  constructor(runtime: Runtime, retention: { readonly maxAgeMs: number; readonly maxRuns: number }) {
    this.#runtime = runtime;
    this.#retention = retention;
  }

  async start({ runId, key, version, input }: NewRun, rejectBusy: boolean): Promise<Started> {
    this.#prune();
    if (this.#runs.has(runId)) return { result: 'exists' };
    const queue = key === undefined ? [] : (this.#queues.get(key) ?? []);
    if (rejectBusy && queue.length > 0) return { result: 'busy' };
    this.#epoch += 1;
    const claimed = { runId, epoch: this.#epoch, version, input };
    const isFirst = queue.length === 0;
    const run: KeptRun = {
      claimed,
      key,
      entries: new Map(),
      signals: new Map(),
      standing: isFirst ? { state: 'running', epoch: claimed.epoch } : { state: 'queued' },
      ended: 0,
    };
    this.#runs.set(runId, run);
    queue.push(run);
    if (key !== undefined) this.#queues.set(key, queue);
    return isFirst ? { result: 'started', run: claimed } : { result: 'started' };
  }

  async claimFree(): Promise<readonly ClaimedRun[]> {
    return [];
  }

  async release(): Promise<void> {}

  find(runId: string, name: string): JournalEntry | undefined {
    return this.#runs.get(runId)?.entries.get(name);
  }

  async record(claimed: ClaimedRun, name: string, entry: JournalEntry): Promise<void> {
    this.#open(claimed).entries.set(name, entry);
  }

  async finish(claimed: ClaimedRun, outcome: RunEndState): Promise<Freed> {
    return this.#end(this.#open(claimed), outcome);
  }

  async cancel(runId: string): Promise<Freed> {
    const run = this.#runs.get(runId);
    if (run === undefined || isOver(run)) return { isOver: false };
    return this.#end(run, { state: 'cancelled' });
  }

  async signal(runId: string, name: string, text: string): Promise<boolean> {
    const run = this.#runs.get(runId);
    if (run === undefined || isOver(run) || run.signals.has(name)) return false;
    run.signals.set(name, text);
    return true;
  }

  signalled(runId: string, name: string): string | null | undefined {
    return this.#runs.get(runId)?.signals.get(name);
  }

  async giveUp(claimed: ClaimedRun, name: string): Promise<string | null> {
    const { signals } = this.#open(claimed);
    const text = signals.get(name) ?? null;
    signals.set(name, text);
    return text;
  }

  standing(runId: string): RunRecord | undefined {
    return this.#runs.get(runId)?.standing;
  }

  hasNews(): boolean {
    return false;
  }

  async close(): Promise<void> {
    this.#runs.clear();
    this.#queues.clear();
    this.#ended.clear();
  }

  #open(claimed: ClaimedRun): KeptRun {
    const run = this.#runs.get(claimed.runId);
    if (run === undefined || isOver(run)) throw fencedRun(claimed.runId);
    return run;
  }

  #end(run: KeptRun, standing: RunRecord): Freed {
    run.standing = standing;
    run.ended = this.#runtime.now();
    run.entries.clear();
    run.signals.clear();
    this.#ended.add(run);
    this.#prune();
    const queue = run.key === undefined ? [] : (this.#queues.get(run.key) ?? []);
    const wasFirst = queue[0] === run;
    queue.splice(queue.indexOf(run), 1);
    const [next] = queue;
    if (next === undefined && run.key !== undefined) this.#queues.delete(run.key);
    if (!wasFirst || next === undefined) return { isOver: true };
    next.standing = { state: 'running', epoch: next.claimed.epoch };
    return { isOver: true, next: next.claimed };
  }

  #prune(): void {
    const { maxAgeMs, maxRuns } = this.#retention;
    const oldest = this.#runtime.now() - maxAgeMs;
    for (const run of this.#ended) {
      if (this.#ended.size <= maxRuns && run.ended >= oldest) return;
      this.#ended.delete(run);
      this.#runs.delete(run.claimed.runId);
    }
  }
}

function isOver({ standing: { state } }: KeptRun): boolean {
  return state !== 'queued' && state !== 'running';
}

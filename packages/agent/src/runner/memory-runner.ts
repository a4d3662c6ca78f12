import { defined } from '../values/defined.ts';
import { AgentError } from '../values/errors.ts';
import { amount, callable, read, record, withMethods } from '../values/input.ts';
import type { Json } from '../values/json.ts';
import type { Runtime } from '../values/runtime.ts';
import { systemRuntime } from '../values/runtime.ts';
import type { ClaimedRun, Freed, Inbox, NewRun, Put, RunEndState, RunRecord, RunRetention } from './inbox.ts';
import { fencedRun, filledRetention, readRunRetention } from './inbox.ts';
import { InboxRunner } from './inbox-runner.ts';
import type { Runner, Workflow } from './runner.ts';

/** Options of {@link memoryRunner}. */
export interface MemoryRunnerOptions<Input extends Json, Output extends Json> {
  readonly workflow: Workflow<Input, Output>;
  /** Clock and randomness. Default: the real ones. */
  readonly runtime?: Runtime;
  /** Retention of ended runs. Default: 30 days, and at most 10,000 runs. */
  readonly retention?: RunRetention;
  /** Maximum number of runs that have not ended; `start` rejects more with code `too_many_runs`. Default 100,000. */
  readonly maxOpen?: number;
}

/** Maximum number of runs that have not ended, if no option changes it. */
const defaultMaxOpen = 100_000;

/** Runs workflows in this process. Runs end with the process, so use it for tests and for work that can be lost. */
export function memoryRunner<Input extends Json, Output extends Json>(
  options: MemoryRunnerOptions<Input, Output>,
): Runner<Input, Output> {
  const {
    workflow,
    runtime = systemRuntime,
    retention,
    maxOpen = defaultMaxOpen,
  } = read(options, runnerFields);
  const inbox = new MemoryInbox(runtime, { ...filledRetention(retention), maxOpen });
  // The input of a run is what `start` received, and its output is what the workflow returned.
  return new InboxRunner({ inbox, runtime, workflow }) as unknown as Runner<Input, Output>;
}

interface RunnerFields extends Omit<MemoryRunnerOptions<Json, Json>, 'workflow'> {
  readonly workflow: Workflow;
}

const runnerFields = record<RunnerFields>(
  {
    workflow: callable,
    runtime: withMethods('now', 'timer', 'random', 'digest'),
    retention: readRunRetention,
    maxOpen: amount,
  },
  ['workflow'],
);

interface KeptRun {
  readonly claimed: ClaimedRun;
  /** The open runs with the same key, in the order of their start; only this one if it has none. */
  readonly queue: KeptRun[];
  readonly key: string | undefined;
  readonly dueAt: number;
  readonly signals: Map<string, string | null>;
  runRecord: RunRecord;
  ended: number;
}

type MemoryLimits = Required<RunRetention> & { readonly maxOpen: number };

class MemoryInbox implements Inbox {
  readonly durable = false;
  readonly #runtime: Runtime;
  readonly #retention: MemoryLimits;
  readonly #runs = new Map<string, KeptRun>();
  readonly #queues = new Map<string, KeptRun[]>();
  /** Runs that were not due when they were put. */
  readonly #later = new Set<KeptRun>();
  /** Ended runs, in the order of their end. */
  readonly #ended = new Set<KeptRun>();
  #epoch = 0;

  constructor(runtime: Runtime, retention: MemoryLimits) {
    this.#runtime = runtime;
    this.#retention = retention;
  }

  async put({ runId, key, input, dueAt = 0 }: NewRun, maxAhead: number): Promise<Put> {
    this.#prune();
    if (this.#runs.has(runId)) return { result: 'exists' };
    const queue = (key === undefined ? undefined : this.#queues.get(key)) ?? [];
    if (queue.filter((other) => this.#isDue(other)).length > maxAhead) return { result: 'busy' };
    if (this.#runs.size - this.#ended.size >= this.#retention.maxOpen)
      throw tooManyRuns(runId, this.#retention.maxOpen);
    this.#epoch += 1;
    const claimed = { runId, epoch: this.#epoch, input };
    const run: KeptRun = {
      claimed,
      queue,
      key,
      dueAt,
      signals: new Map(),
      runRecord: { state: 'queued' },
      ended: 0,
    };
    this.#runs.set(runId, run);
    queue.push(run);
    if (key !== undefined) this.#queues.set(key, queue);
    if (!this.#isDue(run)) this.#later.add(run);
    return { result: 'put', ...defined({ run: this.#claimNext(queue) }) };
  }

  async claimDue(): Promise<readonly ClaimedRun[]> {
    const due = [...this.#later].filter((run) => this.#isDue(run));
    for (const run of due) this.#later.delete(run);
    return due.map(({ queue }) => this.#claimNext(queue)).filter((claimed) => claimed !== undefined);
  }

  async release(): Promise<void> {}

  async ack(claimed: ClaimedRun, outcome: RunEndState): Promise<Freed> {
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
    return this.#runs.get(runId)?.runRecord;
  }

  hasNews(): boolean {
    return false;
  }

  async close(): Promise<void> {
    this.#runs.clear();
    this.#queues.clear();
    this.#later.clear();
    this.#ended.clear();
  }

  #isDue({ dueAt }: KeptRun): boolean {
    return dueAt <= this.#runtime.now();
  }

  /** Claims the first run of a queue that is due, unless one of them is being worked on. */
  #claimNext(queue: readonly KeptRun[]): ClaimedRun | undefined {
    if (queue.some(({ runRecord }) => runRecord.state === 'running')) return undefined;
    const next = queue.find((run) => this.#isDue(run));
    if (next === undefined) return undefined;
    this.#later.delete(next);
    next.runRecord = { state: 'running', epoch: next.claimed.epoch };
    return next.claimed;
  }

  #open(claimed: ClaimedRun): KeptRun {
    const run = this.#runs.get(claimed.runId);
    if (run === undefined || isOver(run)) throw fencedRun(claimed.runId);
    return run;
  }

  #end(run: KeptRun, runRecord: RunRecord): Freed {
    const { queue, key } = run;
    run.runRecord = runRecord;
    run.ended = this.#runtime.now();
    run.signals.clear();
    this.#later.delete(run);
    this.#ended.add(run);
    this.#prune();
    queue.splice(queue.indexOf(run), 1);
    if (queue.length === 0 && key !== undefined) this.#queues.delete(key);
    return { isOver: true, ...defined({ next: this.#claimNext(queue) }) };
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

function tooManyRuns(runId: string, maxOpen: number): AgentError {
  const message = `Run ${runId} was not started: the maximum number of unfinished runs (${maxOpen}) has been reached. Wait for some to end, or raise the maxOpen option of memoryRunner.`;
  return new AgentError({ kind: 'invalid', code: 'too_many_runs', message });
}

function isOver({ runRecord: { state } }: KeptRun): boolean {
  return state !== 'queued' && state !== 'running';
}

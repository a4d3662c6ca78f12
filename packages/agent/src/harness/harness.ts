import type { RunEvent } from '../events/event.ts';
import { Executor } from '../loop/executor.ts';
import { readDecisions } from '../run/approvals.ts';
import { runOptions } from '../run/option-readers.ts';
import type { ExecutorOptions } from '../run/options.ts';
import { checkWaiting, readPrompt, readUserContent } from '../run/prompt.ts';
import type { Run } from '../run/run.ts';
import { cancelled } from '../run/run.ts';
import { forkSession } from '../store/fork-session.ts';
import { memoryStore } from '../store/memory-store.ts';
import type { Store } from '../store/store.ts';
import { defined } from '../values/defined.ts';
import { AgentError } from '../values/errors.ts';
import { any, oneOf, read, record } from '../values/input.ts';
import type { UserPart } from '../values/message.ts';
import type { Runtime } from '../values/runtime.ts';
import { systemRuntime } from '../values/runtime.ts';
import { notifyHandler } from './handler.ts';
import type { RunIds } from './pending-run.ts';
import { busyError, closedError, PendingRun, refusedRun } from './pending-run.ts';
import type { ForkOptions, HarnessConfig, HarnessResumeOptions, PromptOptions } from './prompt-options.ts';
import { forkOptions, harnessReaders } from './prompt-options.ts';

/** The features of a harness. The contract suite skips the test cases of features that it does not support. */
export interface HarnessCapabilities {
  /** True if the given tools run in this conversation. */
  readonly tools: boolean;
  /** True if calls can wait for a user's decision. */
  readonly gate: boolean;
  readonly steer: boolean;
  readonly fork: boolean;
  /** True if text is shown as it arrives. */
  readonly deltas: boolean;
}

/**
 * One conversation with one prompt at a time. A second prompt during a run returns a failed run (kind `invalid`, code
 * `busy`) of which nothing is recorded, unless `whenBusy` is `queue`. No method throws for external failures or user
 * decisions: every outcome is the result of a {@link Run}.
 */
export interface Harness {
  readonly sessionId: string;
  readonly capabilities: HarnessCapabilities;
  /** Sends a message to the model and lets it work until it is done. Returns immediately. */
  prompt(content: string | readonly UserPart[], options?: PromptOptions): Run;
  /** Continues the conversation after a crash or a wait for a user's decision. */
  resume(options?: HarnessResumeOptions): Run;
  /**
   * Sends a message during a run; it becomes part of the next turn. Returns false if no run is active.
   * @throws AgentError `invalid`, code `bad_prompt`, if the content is neither a string nor an array of parts.
   */
  steer(content: string | readonly UserPart[]): boolean;
  /** Stops the active run. Returns false if no run is active. */
  cancel(): boolean;
  /**
   * Creates a separate conversation that starts like this one, up to and including an event. Default: all of it.
   * Rejects with AgentError `invalid` if the session or event does not exist.
   */
  fork(options?: ForkOptions): Promise<Harness>;
  /** Stops the active run and refuses all later prompts. Resolves when nothing is running anymore. */
  close(): Promise<void>;
}

/** Options of {@link createHarness}. Only the agent has no default. */
export interface HarnessOptions extends ExecutorOptions, HarnessConfig {
  /** Handling of a prompt while another one is running. Default `reject`. */
  readonly whenBusy?: 'reject' | 'queue';
}

/**
 * Creates a conversation that runs in this process. Its defaults (requirement S4.1): ten turns, tools one after
 * another, and the first failed tool stops its batch.
 * @throws AgentError `invalid` for unusable tools or limits.
 */
export function createHarness(options: HarnessOptions): Harness {
  return new LocalHarness(options);
}

type OwnOptions = HarnessConfig & Pick<HarnessOptions, 'whenBusy' | 'store' | 'runtime'>;

/** The executor reads the other options. */
const ownOptions = record<OwnOptions>({
  ...harnessReaders,
  whenBusy: oneOf('reject', 'queue'),
  store: any,
  runtime: any,
});

/** Starts a run of a harness and passes on its events. */
type Start = (runId: string, onEvent: (event: RunEvent) => void) => Run;

/** What the caller has sent, read once, and how to start it. */
interface Work {
  readonly given: unknown;
  readonly start: Start;
}

interface QueuedPrompt {
  readonly held: PendingRun;
  readonly given: unknown;
  readonly begin: () => void;
  /** Stops listening to the caller's signal. */
  readonly forget: () => void;
}

class LocalHarness implements Harness {
  readonly sessionId: string;
  readonly capabilities: HarnessCapabilities = {
    tools: true,
    gate: true,
    steer: true,
    fork: true,
    deltas: true,
  };
  readonly #options: HarnessOptions;
  readonly #executor: Executor;
  readonly #runtime: Runtime;
  readonly #store: Store;
  readonly #notify: (event: RunEvent) => void;
  readonly #queue: QueuedPrompt[] = [];
  /** True while a run is active, also while its first event is emitted and its handle does not exist yet. */
  #busy = false;
  #run: Run | undefined;
  #wantsCancel = false;
  #isClosed = false;

  constructor(options: HarnessOptions) {
    const own = read(options, ownOptions);
    const { runtime = systemRuntime, store = memoryStore() } = own;
    const given = read(options, () => defined(options));
    this.#options = { ...given, ...own, runtime, store };
    this.#executor = new Executor({
      toolErrors: 'stop-batch',
      toolScheduling: 'sequential',
      ...this.#options,
    });
    this.#store = store;
    this.#runtime = runtime;
    this.sessionId = own.sessionId ?? runtime.id();
    this.#notify = notifyHandler(own.handler ?? {}, own.report);
  }

  prompt(content: string | readonly UserPart[], options: PromptOptions = {}): Run {
    const given = read(options, runOptions);
    return this.#take(given, () => {
      const messages = readPrompt(content);
      const { sessionId } = this;
      const start: Start = (runId, onEvent) =>
        this.#executor.run(messages, { ...given, runId, onEvent, sessionId });
      return { given: messages, start };
    });
  }

  resume(options: HarnessResumeOptions = {}): Run {
    const { answers, ...given } = read(options, runOptions);
    return this.#take(given, () => {
      const decisions = answers && readDecisions(answers);
      const start: Start = (runId, onEvent) =>
        this.#executor.resume(this.sessionId, {
          ...given,
          ...defined({ answers: decisions }),
          runId,
          onEvent,
        });
      return { given: decisions, start };
    });
  }

  steer(content: string | readonly UserPart[]): boolean {
    const userContent = readUserContent(content);
    return this.#run?.steer(userContent) ?? false;
  }

  cancel(): boolean {
    if (this.#run !== undefined) return this.#run.cancel();
    this.#wantsCancel = this.#busy;
    return this.#busy;
  }

  async fork(options: ForkOptions = {}): Promise<Harness> {
    const given = read(options, forkOptions);
    const sessionId = this.#runtime.id();
    const fork = { from: this.sessionId, to: sessionId, ...given };
    await forkSession(this.#store, fork, this.#runtime);
    return new LocalHarness({ ...this.#options, sessionId });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { held, forget } of this.#queue.splice(0)) {
      forget();
      held.refuse(closedError(), this.#runtime);
    }
    this.cancel();
    await this.#run?.result;
  }

  #take({ signal, runId = this.#runtime.id() }: PromptOptions, readWork: () => Work): Run {
    const ids = { id: runId, sessionId: this.sessionId };
    const isFree = !this.#busy && this.#queue.length === 0;
    try {
      if (this.#isClosed) throw closedError();
      if (!isFree && this.#options.whenBusy !== 'queue') throw busyError();
      const work = readWork();
      if (isFree) return this.#begin(ids, work.start);
      checkWaiting([...this.#queue.map(({ given }) => given), work.given], 'prompts');
      return this.#enqueue(ids, work, signal);
    } catch (thrown) {
      return refusedRun(ids, AgentError.from(thrown), this.#runtime);
    }
  }

  #begin(ids: RunIds, start: Start): Run {
    this.#busy = true;
    let run: Run | undefined;
    const over = () => {
      if (run === undefined || this.#run !== run) return;
      this.#run = undefined;
      this.#busy = false;
    };
    try {
      run = start(ids.id, (event) => {
        // A client that has seen the end may send the next prompt immediately.
        if (event.type === 'finished') over();
        this.#notify(event);
      });
    } catch (thrown) {
      this.#busy = false;
      this.#wantsCancel = false;
      return refusedRun(ids, AgentError.from(thrown), this.#runtime);
    }
    this.#run = run;
    if (this.#wantsCancel) run.cancel();
    this.#wantsCancel = false;
    void run.result.then(() => {
      over();
      this.#next();
    });
    return run;
  }

  #next(): void {
    if (this.#busy) return;
    const next = this.#queue.shift();
    next?.forget();
    next?.begin();
  }

  #enqueue(ids: RunIds, { given, start }: Work, signal: AbortSignal | undefined): Run {
    let real: Run | undefined;
    const held: PendingRun = new PendingRun(ids, {
      cancel: () => real?.cancel() ?? drop(),
      steer: (content) => real?.steer(content) ?? false,
      decide: (approvalId, answer) => real?.decide(approvalId, answer) ?? false,
    });
    const drop = (): boolean => {
      const place = this.#queue.findIndex((queued) => queued.held === held);
      if (place === -1) return false;
      this.#queue.splice(place, 1)[0]?.forget();
      held.refuse(cancelled(), this.#runtime);
      return true;
    };
    const begin = () => {
      real = this.#begin(ids, (runId, onEvent) =>
        start(runId, (event) => {
          held.show(event);
          onEvent(event);
        }),
      );
      void real.result.then((result) => held.end(result));
    };
    const forget = () => signal?.removeEventListener('abort', drop);
    this.#queue.push({ held, given, begin, forget });
    signal?.addEventListener('abort', drop, { once: true });
    if (signal?.aborted) drop();
    return held.run;
  }
}

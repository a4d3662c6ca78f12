import type { RunEvent } from '../events/event.ts';
import { Executor } from '../loop/executor.ts';
import type { ExecutorOptions, ResumeOptions } from '../loop/options.ts';
import { readUserContent } from '../loop/prompt.ts';
import type { Run } from '../loop/run.ts';
import { errorOf } from '../loop/run.ts';
import { forkSession } from '../store/fork-session.ts';
import { memoryStore } from '../store/memory-store.ts';
import type { Store } from '../store/store.ts';
import { defined } from '../values/defined.ts';
import { AgentError } from '../values/errors.ts';
import type { UserPart } from '../values/message.ts';
import type { Runtime } from '../values/runtime.ts';
import { systemRuntime } from '../values/runtime.ts';
import type { HarnessHandler } from './handler.ts';
import { notifyHandler } from './handler.ts';
import type { RunIds } from './pending-run.ts';
import { PendingRun, refusedRun } from './pending-run.ts';

/** What a harness can do. What it lacks switches off the cases of the contract that need it. */
export interface HarnessCapabilities {
  /** The tools given to it run in this conversation. */
  readonly tools: boolean;
  /** Calls can be held back until a person has decided. */
  readonly gate: boolean;
  readonly steer: boolean;
  readonly fork: boolean;
  /** Text is shown while it comes. */
  readonly deltas: boolean;
}

/** What may differ from prompt to prompt. */
export interface PromptOptions {
  /** Aborting it cancels this prompt. */
  readonly signal?: AbortSignal;
  /** An id for the run that no run of the session had before. Default: a new one. */
  readonly runId?: string;
}

/** What may be said when a conversation is taken up again. */
export interface HarnessResumeOptions extends PromptOptions {
  readonly answers?: NonNullable<ResumeOptions['answers']>;
}

/**
 * One conversation. One prompt at a time: another one gives a run that failed with kind `invalid`, code
 * `busy`, of which nothing is recorded, unless the harness was told to queue. Nothing here throws for what
 * the world does or a person says: every outcome is the result of a {@link Run}.
 */
export interface Harness {
  readonly sessionId: string;
  readonly capabilities: HarnessCapabilities;
  /** Says something to the model and lets it work until it is done. Returns at once. */
  prompt(content: string | readonly UserPart[], options?: PromptOptions): Run;
  /** Goes on where a crash, or a wait for a person, left the conversation. */
  resume(options?: HarnessResumeOptions): Run;
  /**
   * Says something during a run; it is part of the next turn. False when there is no run to hear it.
   * @throws AgentError `invalid`, code `bad_prompt`, for what is no text and no array of parts.
   */
  steer(content: string | readonly UserPart[]): boolean;
  /** Stops what is under way. False when there is nothing to stop. */
  cancel(): boolean;
  /**
   * A conversation of its own that begins like this one, up to and including an event. Default: all of it.
   * Rejects with AgentError `invalid` for a session or event that is not there.
   */
  fork(options?: { readonly upToSeq?: number }): Promise<Harness>;
  /** Stops what is under way and refuses all later prompts. Resolves when nothing runs any more. */
  close(): Promise<void>;
}

/** What a harness of one's own needs. Only the agent has no default. */
export interface HarnessOptions extends ExecutorOptions {
  /** Default: none; only readers of a run receive events. */
  readonly handler?: HarnessHandler | null;
  /** A session of the store to go on with, or the id of a new one. Default: a new session. */
  readonly sessionId?: string;
  /** What becomes of a prompt while another one is under way. Default `reject`. */
  readonly whenBusy?: 'reject' | 'queue';
  /** Hears, once, that the handler threw. Default: the handler's own `onStatus`. */
  readonly report?: (error: AgentError) => void;
}

/**
 * A conversation with the model over the local loop. Its defaults (requirement S4.1): ten turns, tools one
 * after another, and the first tool that fails stops its batch.
 * @throws AgentError `invalid` for tools or limits that cannot work.
 */
export function createHarness(options: HarnessOptions): Harness {
  return new LocalHarness(options);
}

/** Makes the run of a harness and tells its events. */
type Start = (runId: string, onEvent: (event: RunEvent) => void) => Run;

/** A prompt that waits for its turn. */
interface Queued {
  readonly held: PendingRun;
  readonly begin: () => void;
  /** Forgets the caller's signal. */
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
  readonly #tell: (event: RunEvent) => void;
  readonly #queue: Queued[] = [];
  /** Whether a run is under way, also while its first event is told and there is no handle of it yet. */
  #busy = false;
  #run: Run | undefined;
  #wantsCancel = false;
  #isClosed = false;

  constructor(options: HarnessOptions) {
    const runtime = options.runtime ?? systemRuntime;
    this.#store = options.store ?? memoryStore();
    this.#options = { ...options, runtime, store: this.#store };
    this.#runtime = runtime;
    this.sessionId = options.sessionId ?? runtime.id();
    this.#tell = notifyHandler(options.handler ?? {}, options.report);
    this.#executor = new Executor({
      ...this.#options,
      toolErrors: options.toolErrors ?? 'stop-batch',
      toolScheduling: options.toolScheduling ?? 'sequential',
    });
  }

  prompt(content: string | readonly UserPart[], options: PromptOptions = {}): Run {
    return this.#take(options, (runId, onEvent) =>
      this.#executor.run(content, { ...options, runId, onEvent, sessionId: this.sessionId }),
    );
  }

  resume(options: HarnessResumeOptions = {}): Run {
    return this.#take(options, (runId, onEvent) =>
      this.#executor.resume(this.sessionId, { ...options, runId, onEvent }),
    );
  }

  steer(content: string | readonly UserPart[]): boolean {
    const said = readUserContent(content);
    return this.#run?.steer(said) ?? false;
  }

  cancel(): boolean {
    if (this.#run !== undefined) return this.#run.cancel();
    this.#wantsCancel = this.#busy;
    return this.#busy;
  }

  async fork({ upToSeq }: { readonly upToSeq?: number } = {}): Promise<Harness> {
    const sessionId = this.#runtime.id();
    const fork = { from: this.sessionId, to: sessionId, ...defined({ upToSeq }) };
    await forkSession(this.#store, fork, this.#runtime);
    return new LocalHarness({ ...this.#options, sessionId });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { held, forget } of this.#queue.splice(0)) {
      forget();
      held.refuse(closed(), this.#runtime);
    }
    this.cancel();
    await this.#run?.result;
  }

  #take({ signal, runId = this.#runtime.id() }: PromptOptions, start: Start): Run {
    const ids = { id: runId, sessionId: this.sessionId };
    if (this.#isClosed) return refusedRun(ids, closed(), this.#runtime);
    if (!this.#busy && this.#queue.length === 0) return this.#begin(ids, start);
    if (this.#options.whenBusy !== 'queue') return refusedRun(ids, busy(), this.#runtime);
    return this.#enqueue(ids, start, signal);
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
        // A client that has seen the end may send the next prompt at once.
        if (event.type === 'finished') over();
        this.#tell(event);
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

  #enqueue(ids: RunIds, start: Start, signal: AbortSignal | undefined): Run {
    let real: Run | undefined;
    const held: PendingRun = new PendingRun(ids, {
      cancel: () => (real === undefined ? drop() : real.cancel()),
      steer: (content) => real?.steer(content) ?? false,
      decide: (approvalId, answer) => real?.decide(approvalId, answer) ?? false,
    });
    const drop = (): boolean => {
      const place = this.#queue.findIndex((queued) => queued.held === held);
      if (place === -1) return false;
      this.#queue.splice(place, 1)[0]?.forget();
      held.refuse(errorOf('cancelled', undefined) ?? closed(), this.#runtime);
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
    this.#queue.push({ held, begin, forget });
    signal?.addEventListener('abort', drop, { once: true });
    if (signal?.aborted) drop();
    return held.run;
  }
}

function busy(): AgentError {
  return new AgentError({ kind: 'invalid', code: 'busy', message: 'another prompt is already in progress' });
}

function closed(): AgentError {
  return new AgentError({ kind: 'invalid', code: 'closed', message: 'The conversation has been closed.' });
}

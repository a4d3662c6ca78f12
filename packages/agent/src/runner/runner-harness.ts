/**
 * A conversation whose runs a runner executes, in any process.
 *
 * @module
 */

import type { Event, RunEvent } from '../events/event.ts';
import { notifyHandler } from '../harness/handler.ts';
import type { Harness, HarnessCapabilities } from '../harness/harness.ts';
import { busyError, closedError, PendingRun, refusedRun } from '../harness/pending-run.ts';
import type {
  ForkOptions,
  HarnessConfig,
  HarnessResumeOptions,
  PromptOptions,
} from '../harness/prompt-options.ts';
import { forkOptions, harnessReaders, promptOptions, resumeOptions } from '../harness/prompt-options.ts';
import type { Executor } from '../loop/executor.ts';
import { readDecisions } from '../run/approvals.ts';
import { readUserContent } from '../run/prompt.ts';
import { outcomeOf } from '../run/result.ts';
import type { Run } from '../run/run.ts';
import { cancelled } from '../run/run.ts';
import { forkSession } from '../store/fork-session.ts';
import { openSession, readStore } from '../store/open-session.ts';
import type { Store } from '../store/store.ts';
import { defined } from '../values/defined.ts';
import { AgentError } from '../values/errors.ts';
import { amount, callable, read, record, withMethods } from '../values/input.ts';
import type { Json } from '../values/json.ts';
import type { UserPart } from '../values/message.ts';
import type { Runtime } from '../values/runtime.ts';
import { systemRuntime } from '../values/runtime.ts';
import { runCancelled } from './attempts.ts';
import type { Runner } from './runner.ts';
import type { SessionWork } from './session-workflow.ts';

/** Options of {@link runnerHarness}. */
export interface RunnerHarnessOptions extends HarnessConfig {
  /** Runs `sessionWorkflow` over the same store, in this process or another. */
  readonly runner: Pick<Runner, 'start' | 'cancel' | 'status'>;
  readonly store: Store;
  /** The executor of the workflow. The harness uses it only to record that a run was cancelled before its start. */
  readonly executor: Executor;
  /** Registers a listener for appends to a session by any process; returns a function that removes it. */
  readonly watch?: (listener: (sessionId: string) => void) => () => void;
  /** Interval between reads of the log if there are no notifications, in milliseconds. Default 250. */
  readonly pollMs?: number;
  readonly runtime?: Runtime;
}

/** A harness over a runner. */
export interface RunnerHarness extends Harness {
  /**
   * Follows the run in progress, wherever it was started, beginning with the next event. Returns undefined if there is
   * none. The harness then treats the run as its own. The result is an object, because an async function would await a
   * returned run.
   */
  join(): Promise<{ readonly run: Run } | undefined>;
}

/**
 * Creates a conversation whose runs are executed by a runner, possibly in other processes: the harness starts them and
 * reports the events in the log. If this process crashes, the runs continue, and another harness of the same session
 * receives the remaining events. Text is not streamed, and messages cannot be sent during a run.
 */
export function runnerHarness(options: RunnerHarnessOptions): RunnerHarness {
  return new FollowingHarness(options);
}

const harnessFields = record<RunnerHarnessOptions>(
  {
    ...harnessReaders,
    runner: withMethods('start', 'cancel', 'status'),
    store: readStore,
    executor: withMethods('advance'),
    watch: callable,
    pollMs: amount,
    runtime: withMethods('now', 'timer', 'id'),
  },
  ['runner', 'store', 'executor'],
);

/** Maximum time to keep following a run while neither the log nor the runner is reachable, in milliseconds. */
const followTimeoutMs = 60_000;

interface FollowedRun {
  readonly held: PendingRun;
  readonly runId: string;
  readonly work: SessionWork;
  /** Sequence number of the last session event before the run. */
  seq: number;
  wantsCancel: boolean;
  isOver: boolean;
  wake: () => void;
}

class FollowingHarness implements RunnerHarness {
  readonly sessionId: string;
  readonly capabilities: HarnessCapabilities = {
    tools: true,
    gate: true,
    steer: false,
    fork: true,
    deltas: false,
  };
  readonly #options: RunnerHarnessOptions;
  readonly #runtime: Runtime;
  readonly #notify: (event: RunEvent) => void;
  #current: FollowedRun | undefined;
  #isClosed = false;

  constructor(given: RunnerHarnessOptions) {
    const options = read(given, harnessFields);
    this.#options = options;
    this.#runtime = options.runtime ?? systemRuntime;
    this.sessionId = options.sessionId ?? this.#runtime.id();
    this.#notify = notifyHandler(options.handler ?? {}, options.report);
  }

  prompt(content: string | readonly UserPart[], options: PromptOptions = {}): Run {
    return this.#take(options, () => ({ sessionId: this.sessionId, content: readUserContent(content) }));
  }

  resume(options: HarnessResumeOptions = {}): Run {
    const { answers, compact } = read(options, resumeOptions);
    return this.#take(options, () => {
      if (compact !== undefined) throw cannotCompact();
      return {
        sessionId: this.sessionId,
        ...(answers !== undefined && { answers: readDecisions(answers) }),
      };
    });
  }

  /** Returns false: runs execute elsewhere and cannot receive messages. */
  steer(): boolean {
    return false;
  }

  cancel(): boolean {
    return this.#current !== undefined && this.#cancel(this.#current);
  }

  async fork(options: ForkOptions = {}): Promise<Harness> {
    const given = read(options, forkOptions);
    const sessionId = this.#runtime.id();
    const fork = { from: this.sessionId, to: sessionId, ...given };
    await forkSession(this.#options.store, fork, this.#runtime);
    return new FollowingHarness({ ...this.#options, sessionId });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const run = this.#current?.held.run;
    this.cancel();
    await run?.result;
  }

  #take(options: PromptOptions, wanted: () => SessionWork): Run {
    const { signal, user, runId = this.#runtime.id() } = read(options, promptOptions);
    const ids = { id: runId, sessionId: this.sessionId };
    if (this.#isClosed) return refusedRun(ids, closedError(), this.#runtime);
    if (signal?.aborted) return refusedRun(ids, cancelled(), this.#runtime);
    let work: SessionWork;
    try {
      work = { ...wanted(), ...defined({ user }) };
    } catch (thrown) {
      return refusedRun(ids, AgentError.from(thrown), this.#runtime);
    }
    const before = this.#current;
    const followed = this.#hold(runId, work);
    if (before === undefined) this.#current = followed;
    const onAbort = () => void this.#cancel(followed);
    signal?.addEventListener('abort', onAbort, { once: true });
    void this.#see(followed, () => this.#begin(followed, before)).finally(() =>
      signal?.removeEventListener('abort', onAbort),
    );
    return followed.held.run;
  }

  async join(): Promise<{ readonly run: Run } | undefined> {
    const { store, runner } = this.#options;
    if (this.#mine !== undefined || this.#isClosed) return this.#mine;
    const { seq, runId, finished } = await openSession(store, this.sessionId);
    if (seq === 0 || finished !== undefined) return undefined;
    const { state } = await runner.status(runId);
    // A run that the runner has ended adds no more events.
    const isUnderWay = state === 'queued' || state === 'running';
    if (this.#mine !== undefined || this.#isClosed || !isUnderWay) return this.#mine;
    const followed = this.#hold(runId, { sessionId: this.sessionId }, seq);
    this.#current = followed;
    void this.#see(followed);
    return followed.held;
  }

  get #mine(): { readonly run: Run } | undefined {
    return this.#current?.held;
  }

  #hold(runId: string, work: SessionWork, seq = 0): FollowedRun {
    const held: PendingRun = new PendingRun(
      { id: runId, sessionId: this.sessionId },
      { cancel: () => this.#cancel(followed), steer: () => false, decide: () => false },
    );
    const followed: FollowedRun = {
      held,
      runId,
      work,
      seq,
      wantsCancel: false,
      isOver: false,
      wake: () => {},
    };
    return followed;
  }

  /** Starts a run with the given function, if any, and reports its events until it ends. Never rejects. */
  async #see(followed: FollowedRun, begin?: () => Promise<void>): Promise<void> {
    const { held } = followed;
    const stopWatching = this.#options.watch?.((id) => id === this.sessionId && followed.wake());
    try {
      await begin?.();
      this.#show(followed, { type: 'started', v: 1, sessionId: this.sessionId, runId: followed.runId });
      await this.#follow(followed);
    } catch (thrown) {
      const error = AgentError.from(thrown);
      this.#markOver(followed);
      held.refuse(error.code === 'busy' ? busyError() : error, this.#runtime);
    } finally {
      stopWatching?.();
    }
  }

  async #begin(followed: FollowedRun, before: FollowedRun | undefined): Promise<void> {
    const { runner, store } = this.#options;
    if (before !== undefined) await this.#replace(before, followed);
    const { runId, work } = followed;
    const key = `session:${this.sessionId}`;
    const since = this.#runtime.monotonic();
    for (;;) {
      const { seq, finished } = await openSession(store, this.sessionId);
      followed.seq = seq;
      try {
        await runner.start(work as unknown as Json, { runId, key, whenBusy: 'reject' });
        break;
      } catch (thrown) {
        // The log contains the end of a run before the runner releases its key, and a client may have seen that end.
        const isEnding = AgentError.from(thrown).code === 'busy' && finished !== undefined;
        if (!isEnding || this.#runtime.monotonic() - since >= releaseTimeoutMs) throw thrown;
        await this.#pause(followed);
      }
    }
    if (followed.wantsCancel) await runner.cancel(runId);
  }

  /**
   * Takes up a run after this harness has seen the end of its previous one. Throws `busy` if the log does not contain
   * that end yet: only then is the previous run in progress, because a client may have read the end from the log.
   */
  async #replace(before: FollowedRun, followed: FollowedRun): Promise<void> {
    const { runId, finished } = await openSession(this.#options.store, this.sessionId);
    if (finished === undefined || runId !== before.runId) throw busyError();
    before.wake();
    await before.held.run.result;
    if (this.#isClosed) throw closedError();
    if (this.#current !== undefined) throw busyError();
    this.#current = followed;
  }

  async #follow(followed: FollowedRun): Promise<void> {
    const { runner, store } = this.#options;
    for (;;) {
      // Check the status before reading the log: after the run has ended, the log contains all its events.
      const { state, ...ending } = await this.#retryTemporary(followed, () => runner.status(followed.runId));
      if (await this.#showNew(followed)) break;
      if (state === 'cancelled') await this.#writeEnd(followed);
      else if (state !== 'queued' && state !== 'running') throw notSeenTo(followed.runId, ending);
      else await this.#pause(followed);
    }
    const session = await this.#retryTemporary(followed, () => openSession(store, this.sessionId));
    this.#markOver(followed);
    followed.held.end(outcomeOf(session, { sessionId: this.sessionId, runId: followed.runId }));
  }

  /** Reports new events of the run. Returns true if its end was among them. */
  async #showNew(followed: FollowedRun): Promise<boolean> {
    const read = () => this.#options.store.read(this.sessionId, followed.seq);
    const events: readonly Event[] = await this.#retryTemporary(followed, read);
    for (const event of events) {
      followed.seq = event.seq;
      if (event.runId !== followed.runId) continue;
      // A client that receives the end may send the next prompt immediately.
      if (event.type === 'finished') this.#markOver(followed);
      this.#show(followed, event);
      if (event.type === 'finished') return true;
    }
    return false;
  }

  /** Retries temporary failures: the run continues elsewhere even while the store or runner is unreachable. */
  async #retryTemporary<Value>(followed: FollowedRun, look: () => Value | Promise<Value>): Promise<Value> {
    const since = this.#runtime.monotonic();
    for (;;) {
      try {
        return await look();
      } catch (thrown) {
        const error = AgentError.from(thrown);
        const isLate = this.#isClosed || this.#runtime.monotonic() - since > followTimeoutMs;
        if (!error.retryable || isLate) throw error;
        await this.#pause(followed);
      }
    }
  }

  /** Records the end of a run that was cancelled between two actions or before the first: no other process records it. */
  async #writeEnd({ runId, work }: FollowedRun): Promise<void> {
    const { user, content, answers } = work;
    await this.#options.executor.advance({
      sessionId: this.sessionId,
      runId,
      signal: AbortSignal.abort(runCancelled(runId)),
      ...defined({ user, prompt: content, answers }),
    });
  }

  #show({ held }: FollowedRun, event: RunEvent): void {
    held.show(event);
    this.#notify(event);
  }

  #cancel(followed: FollowedRun): boolean {
    if (followed.isOver) return false;
    followed.wantsCancel = true;
    // If the request fails, the next status check shows whether the run was cancelled.
    void this.#options.runner.cancel(followed.runId).then(
      () => followed.wake(),
      () => {},
    );
    return true;
  }

  #markOver(followed: FollowedRun): void {
    followed.isOver = true;
    if (this.#current === followed) this.#current = undefined;
  }

  #pause(followed: FollowedRun): Promise<void> {
    return new Promise((resolve) => {
      const takeBack = this.#runtime.timer(this.#options.pollMs ?? 250, resolve);
      followed.wake = () => {
        takeBack();
        resolve();
      };
    });
  }
}

/** Maximum time in milliseconds in which a runner releases the key of a run whose end is in the log. */
const releaseTimeoutMs = 5_000;

/** Creates the error for a run that the runner has ended but whose log has no end. */
function notSeenTo(runId: string, ending: object): AgentError {
  if ('error' in ending) return new AgentError(ending.error as ConstructorParameters<typeof AgentError>[0]);
  const message = `The runner ended run ${runId} without recording its end.`;
  return new AgentError({ kind: 'agent', code: 'no_ending', message });
}

function cannotCompact(): AgentError {
  const message =
    'A session with a runner cannot be shortened on request. It is shortened when it becomes too long.';
  return new AgentError({ kind: 'invalid', code: 'unsupported', message });
}

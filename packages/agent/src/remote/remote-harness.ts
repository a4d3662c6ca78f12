import type { Event, LiveEvent, RunEvent, UnstoredEnd } from '../events/event.ts';
import { isStored } from '../events/event.ts';
import { fold } from '../events/fold.ts';
import { checkMore } from '../events/limit-question.ts';
import type { State } from '../events/state.ts';
import { emptyState, openRequests } from '../events/state.ts';
import { notifyHandler } from '../harness/handler.ts';
import type { Harness, HarnessCapabilities } from '../harness/harness.ts';
import { busyError, closedError, refusedRun } from '../harness/pending-run.ts';
import type { ForkOptions, HarnessResumeOptions, PromptOptions } from '../harness/prompt-options.ts';
import { forkOptions, promptOptions, resumeOptions } from '../harness/prompt-options.ts';
import type { ApprovalDecision } from '../run/approvals.ts';
import { readDecisions } from '../run/approvals.ts';
import { readUserContent } from '../run/prompt.ts';
import type { Run } from '../run/run.ts';
import { cancelled } from '../run/run.ts';
import { defined } from '../values/defined.ts';
import { AgentError } from '../values/errors.ts';
import { read } from '../values/input.ts';
import type { UserPart } from '../values/message.ts';
import type { Runtime } from '../values/runtime.ts';
import { systemRuntime } from '../values/runtime.ts';
import { ApiLink } from './api-link.ts';
import { catchUp } from './catch-up.ts';
import { EventLine } from './event-line.ts';
import type { RemoteOptions } from './remote-options.ts';
import { remoteOptions } from './remote-options.ts';
import { RemoteRun } from './remote-run.ts';

/**
 * Connects to a conversation on a Cobbler server. Requires only `fetch`, reconnects automatically after lost
 * connections and restarts of the server, and delivers every stored event once. `cancel`, `steer` and `decide` return
 * whether a run is in progress that may receive them; its events show whether it did.
 * @throws AgentError `invalid`, code `server_url`.
 */
export function connectHarness(options: RemoteOptions): Harness {
  return new RemoteHarness(options);
}

interface ServerRequest {
  readonly path: string;
  readonly body: unknown;
}

class RemoteHarness implements Harness {
  readonly sessionId: string;
  readonly capabilities: HarnessCapabilities = {
    tools: true,
    gate: true,
    steer: true,
    fork: true,
    deltas: true,
  };
  readonly #options: RemoteOptions;
  readonly #runtime: Runtime;
  readonly #link: ApiLink;
  readonly #notify: (event: RunEvent) => void;
  #state: State = emptyState();
  #line: EventLine | undefined;
  /** Events up to this sequence number happened before the harness connected. */
  #past: number | undefined;
  /** Events up to this sequence number must arrive before the connection counts as restored. */
  #missing: number | undefined;
  /** Number of those events. */
  #behind = 0;
  #isLost = false;
  /** Id of the last run whose end is not stored. */
  #lastUnstored: string | undefined;
  #current: RemoteRun | undefined;
  /** The requests about the current run, sent one after another. */
  #sending: Promise<void> = Promise.resolve();
  #cancelTimeout = () => {};
  /** True if the current run was cancelled; after that its deadline is fixed. */
  #isStopping = false;
  #isClosed = false;

  constructor(given: RemoteOptions) {
    const options = read(given, remoteOptions);
    this.#options = options;
    this.#runtime = options.runtime ?? systemRuntime;
    this.sessionId = options.sessionId ?? this.#runtime.id();
    this.#link = new ApiLink({ ...options, runtime: this.#runtime });
    this.#notify = notifyHandler(options.handler ?? {}, options.report);
  }

  prompt(content: string | readonly UserPart[], options: PromptOptions = {}): Run {
    return this.#take(options, () => ({ path: 'prompt', body: { content: readUserContent(content) } }));
  }

  resume(options: HarnessResumeOptions = {}): Run {
    const { answers, compact } = read(options, resumeOptions);
    return this.#take(options, () => ({
      path: 'resume',
      body: { ...this.#answers(readDecisions(answers ?? [])), ...defined({ compact }) },
    }));
  }

  steer(content: string | readonly UserPart[]): boolean {
    return this.#steer(readUserContent(content));
  }

  cancel(): boolean {
    const run = this.#current;
    return run !== undefined && this.#cancel(run);
  }

  async fork(options: ForkOptions = {}): Promise<Harness> {
    const { user: _, ...body } = read(options, forkOptions);
    const { id } = await this.#link.post(this.#path('fork'), { body });
    return new RemoteHarness({ ...this.#options, sessionId: String(id) });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const run = this.#current;
    if (run !== undefined) {
      this.#cancel(run);
      await run.run.result;
    }
    this.#line?.end();
  }

  #take(options: PromptOptions, wanted: () => ServerRequest): Run {
    const { signal, runId = this.#runtime.id() } = read(options, promptOptions);
    const ids = { id: runId, sessionId: this.sessionId };
    if (this.#isClosed) return refusedRun(ids, closedError(), this.#runtime);
    if (this.#current !== undefined) return refusedRun(ids, busyError(), this.#runtime);
    const run: RemoteRun = new RemoteRun(
      ids,
      {
        cancel: () => this.#cancel(run),
        steer: (content) => this.#current === run && this.#steer(content),
        decide: (approvalId, answer) => this.#current === run && this.#answer(approvalId, answer),
      },
      this.#runtime,
    );
    this.#current = run;
    const onAbort = () => void this.#cancel(run);
    signal?.addEventListener('abort', onAbort, { once: true });
    if (signal?.aborted) this.#giveUp(run, cancelled());
    else this.#sending = this.#start(run, wanted);
    void run.run.result.then(() => signal?.removeEventListener('abort', onAbort));
    return run.run;
  }

  /** Sends a prompt until the server accepts it, which it does once, however often it is sent. Never rejects. */
  async #start(run: RemoteRun, wanted: () => ServerRequest): Promise<void> {
    this.#wait(run);
    const headers = { 'idempotency-key': run.ids.id };
    const send = async () => {
      await this.#lineUp();
      const { path, body } = wanted();
      const { runId } = await this.#link.post(this.#path(path), { body, headers });
      if (typeof runId === 'string' && runId !== run.ids.id) this.#join(run, runId);
    };
    const isDone = () => run.isOver || run.hasStarted;
    const error = await this.#untilAccepted(send, isDone);
    if (error !== undefined) this.#giveUp(run, error);
  }

  /** Follows a run that was already active, whose events may have arrived before the response of the server. */
  #join(run: RemoteRun, runId: string): void {
    if (run.hasStarted || run.isOver) return;
    run.follow(runId);
    const { finished } = this.#state;
    if (this.#state.runId !== runId || finished === undefined) return;
    run.begin(this.#notify);
    this.#forget(run);
    run.end(finished, this.#state);
  }

  /** Resolves when the event connection is established. */
  async #lineUp(): Promise<void> {
    if (this.#line === undefined) {
      await this.#make();
      this.#line = new EventLine({
        link: this.#link,
        runtime: this.#runtime,
        sessionId: this.sessionId,
        back: this.#options.back ?? { baseMs: 250, maxMs: 5_000 },
        position: () => this.#state.seq,
        handle: (data) => this.#handle(data),
        onLost: (error) => this.#onLost(error),
        make: () => this.#make(),
      });
    }
    await this.#line.ready;
  }

  async #make(): Promise<void> {
    await this.#link.post('/v1/sessions', { body: { id: this.sessionId } });
  }

  #onLost(error: AgentError): void {
    this.#isLost = true;
    quietly(() => this.#options.onLost?.(error));
    const run = this.#current;
    if (run !== undefined && !error.retryable && error.kind !== 'network') this.#giveUp(run, error);
    else if (run !== undefined) this.#wait(run);
  }

  /** Handles a message of the server. Returns false if it cannot follow the events received so far. */
  #handle(data: Record<string, unknown>): boolean {
    const { type } = data;
    if (typeof type !== 'string') return true;
    if (type === 'hello') return this.#onHello(Number(data['events'] ?? 0));
    if (type === 'reset') return this.#onReset();
    if (type === 'so_far') return this.#caughtUpWith(data['events']);
    const event = data as unknown as RunEvent;
    if (!isStored(event)) {
      if (event.type === 'finished') this.#endedUnstored(event);
      else if (this.#current?.hasStarted === true) this.#show(event);
      return true;
    }
    if (event.seq <= this.#state.seq) return true;
    if (event.seq !== this.#state.seq + 1) return false;
    this.#store(event);
    return true;
  }

  #onHello(events: number): true {
    this.#past ??= events;
    this.#behind = Math.max(0, events - this.#state.seq);
    this.#missing = events;
    this.#checkCaughtUp();
    return true;
  }

  /** Delivers the parts of the response in progress that were not shown yet. */
  #caughtUpWith(events: unknown): true {
    const run = this.#current;
    if (run?.hasStarted !== true || !Array.isArray(events)) return true;
    for (const event of catchUp(run.run.soFar, events as LiveEvent[])) this.#show(event);
    return true;
  }

  /** Marks the connection as restored once all missed events have arrived. */
  #checkCaughtUp(): void {
    if (this.#missing === undefined || this.#state.seq < this.#missing) return;
    this.#missing = undefined;
    if (!this.#isStopping) this.#cancelTimeout();
    this.#line?.up();
    if (this.#isLost) quietly(() => this.#options.onBack?.(this.#behind));
    this.#isLost = false;
  }

  /** Starts again with an empty log: the server's log differs and is sent from the beginning. */
  #onReset(): true {
    this.#state = emptyState();
    const run = this.#current;
    if (run?.hasStarted === true) {
      this.#giveUp(
        run,
        new AgentError({ kind: 'agent', code: 'lost', message: 'The server no longer has this session.' }),
      );
    }
    return true;
  }

  #store(event: Event): void {
    fold(this.#state, event);
    this.#checkCaughtUp();
    const run = this.#current;
    if (run?.owns(event) !== true) {
      if (event.seq > (this.#past ?? 0)) this.#notify(event);
      return;
    }
    if (!run.hasStarted) run.begin(this.#notify);
    // A client that has received the end may send the next prompt immediately.
    if (event.type === 'finished') this.#forget(run);
    this.#show(event, run);
    if (event.type === 'finished') run.end(event, this.#state);
  }

  /** Ends the latest run in the log if its end could not be stored: no more events of it will follow. */
  #endedUnstored(event: UnstoredEnd): void {
    // The server repeats it on a new connection.
    if (event.runId !== this.#state.runId || event.runId === this.#lastUnstored) return;
    this.#lastUnstored = event.runId;
    const run = this.#current;
    if (run?.hasStarted !== true) return this.#notify(event);
    this.#forget(run);
    this.#show(event, run);
    run.end(event, this.#state);
  }

  #show(event: RunEvent, run: RemoteRun | undefined = this.#current): void {
    run?.show(event);
    this.#notify(event);
  }

  #forget(run: RemoteRun): void {
    if (this.#current !== run) return;
    this.#current = undefined;
    this.#isStopping = false;
    this.#cancelTimeout();
  }

  #giveUp(run: RemoteRun, error: AgentError): void {
    this.#forget(run);
    run.giveUp(error, this.#state);
  }

  #cancel(run: RemoteRun): boolean {
    if (this.#current !== run || run.isOver) return false;
    if (this.#isStopping) return true;
    this.#isStopping = true;
    // The request may never reach the server.
    this.#cancelTimeout();
    const stopMs = this.#options.stopMs ?? 5_000;
    this.#cancelTimeout = this.#runtime.timer(stopMs, () => this.#giveUp(run, cancelled()));
    return this.#say('cancel', {});
  }

  /** Sends a request about the active run. `onEnd` learns whether the server has accepted it, or why not. */
  #say(path: string, body: unknown, onEnd?: (isAccepted: boolean, error?: AgentError) => void): boolean {
    const run = this.#current;
    if (run === undefined) return false;
    let isAccepted = false;
    const send = async () => {
      await this.#link.post(this.#path(path), { body });
      isAccepted = true;
    };
    const sent = this.#sending.then(() => this.#untilAccepted(send, () => run.isOver));
    this.#sending = sent.then(() => {});
    // Later requests do not depend on the callback, and what it throws has no effect.
    sent.then((error) => onEnd?.(isAccepted, error)).catch(() => {});
    return true;
  }

  #steer(content: readonly UserPart[]): boolean {
    const { onUnread } = this.#options;
    return this.#say('steer', { content }, (isAccepted) => isAccepted || onUnread?.(content));
  }

  #answer(approvalId: string, answer: ApprovalDecision): boolean {
    const [found] = this.#answers([{ approvalId, ...answer }]).answers;
    if (found?.hash === undefined) return false;
    const { approvalId: _, ...body } = found;
    const { onRefused } = this.#options;
    return this.#say(`approvals/${approvalId}`, body, (_, error) => error && onRefused?.(approvalId, error));
  }

  /** Adds the hash of each request to its decision, so that it cannot allow anything else. */
  #answers(given: NonNullable<HarnessResumeOptions['answers']>) {
    const asked = openRequests(this.#state);
    const answers = given.map((answer) => {
      const request = asked.find(({ approvalId }) => approvalId === answer.approvalId);
      checkMore(request, answer);
      return { ...answer, ...defined({ hash: request?.hash }) };
    });
    return { answers };
  }

  /** Sends a request until the server accepts it, or it is no longer needed. Returns the error if it is refused. */
  async #untilAccepted(send: () => Promise<unknown>, isDone: () => boolean): Promise<AgentError | undefined> {
    while (!isDone()) {
      try {
        await send();
        break;
      } catch (thrown) {
        const error = AgentError.from(thrown);
        if (!error.retryable) return error;
        await this.#pause();
      }
    }
    return undefined;
  }

  /** Restarts the time limit within which the run must send an event. */
  #wait(run: RemoteRun): void {
    if (this.#isStopping) return;
    this.#cancelTimeout();
    const ms = this.#options.patienceMs ?? 300_000;
    const message = `The server sent nothing about the run for ${ms} ms.`;
    this.#cancelTimeout = this.#runtime.timer(ms, () =>
      this.#giveUp(run, new AgentError({ kind: 'network', code: 'unreachable', message })),
    );
  }

  #pause(): Promise<void> {
    const { baseMs } = this.#options.back ?? { baseMs: 250 };
    return new Promise((resolve) => void this.#runtime.timer(baseMs, resolve));
  }

  #path(rest: string): string {
    return `/v1/sessions/${encodeURIComponent(this.sessionId)}/${rest}`;
  }
}

/** Calls a callback of the program. What it throws has no effect. */
function quietly(callback: () => void): void {
  try {
    callback();
  } catch {}
}

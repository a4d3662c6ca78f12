import type { ApprovalDecidedEvent, ApprovalRequestedEvent, Event, UnstoredEnd } from '../events/event.ts';
import { checkMore } from '../events/limit-question.ts';
import type { State } from '../events/state.ts';
import { emptyState, notRaised, openRequests, waitingUntil } from '../events/state.ts';
import type { ModelResponse } from '../interfaces/agent.ts';
import type { Tool } from '../interfaces/tool.ts';
import type { ApprovalDecision } from '../run/approvals.ts';
import { Approvals } from '../run/approvals.ts';
import { Feed } from '../run/feed.ts';
import type { RunConfig } from '../run/options.ts';
import { checkWaiting, saysSomething } from '../run/prompt.ts';
import { lastText, outcomeOf } from '../run/result.ts';
import type { Advance, RunControl, RunResult } from '../run/run.ts';
import { errorOf, Run } from '../run/run.ts';
import { assertNever } from '../values/assert-never.ts';
import { defined } from '../values/defined.ts';
import { AgentError, summarize } from '../values/errors.ts';
import type { UserPart } from '../values/message.ts';
import { wellFormedParts } from '../values/unicode.ts';
import type { Action, Finish } from './action.ts';
import { waitForAnswer } from './ask-user.ts';
import { callTools } from './call-tools.ts';
import { compact } from './compact.ts';
import { decide } from './decide.ts';
import { finishAsFailed, finishedEvent, stuck } from './ending-error.ts';
import { changedEnd } from './hooks.ts';
import type { Claim, LogOwner } from './log.ts';
import { isTemporary, Log } from './log.ts';
import { claimSession } from './opening.ts';
import { toolsByName } from './plan.ts';
import { applyGrants, chargePast, policyOf, withLimits } from './policy.ts';
import { requestModel } from './request-model.ts';
import type { CachedPrefix, RunContext } from './run-context.ts';
import { Stopwatch } from './stopwatch.ts';

/**
 * Time in milliseconds in which a run must end after it was asked to stop or its store failed. After that, it is
 * abandoned: nothing that it still waits for can have an effect.
 */
const stopTimeoutMs = 200;

/** Starts a run, which continues until `decide` returns `finish`. */
export function startRun<Output, Tools extends Tool>(config: RunConfig<Output>): Run<Output, Tools> {
  const driver = new Driver(config);
  return new Run({ id: config.runId, sessionId: config.sessionId }, driver.run(), driver.feed, driver);
}

/** Performs one action of a run. @throws AgentError see `Executor.advance`. */
export function advanceRun<Output>(config: RunConfig<Output>): Promise<Advance<Output>> {
  return new Driver(config).advance();
}

/** A run and the context of its actions in one object, because each run in memory has one. */
class Driver<Output> implements RunControl, RunContext, LogOwner {
  readonly feed: Feed = new Feed();
  readonly emit: RunContext['emit'] = this.feed.live;
  readonly config: RunConfig<Output>;
  readonly state: State = emptyState();
  readonly tools: ReadonlyMap<string, Tool>;
  readonly clock: Stopwatch;
  wake = nothing;
  isStopping = false;
  sending: RunContext['sending'] = undefined;
  cached: CachedPrefix | undefined;
  lastResponse: ModelResponse | undefined;
  readonly #policy: ReturnType<typeof policyOf>;
  readonly log: Readonly<Log>;
  #controller: AbortController | undefined;
  #stopReason: unknown;
  /** Replaced and never changed. */
  #onStop: readonly ((reason: unknown) => void)[] = [];
  /** Stops waiting for what is running, because its time is over. */
  #giveUp = nothing;
  readonly #began: number;
  #approvals: Approvals | undefined;
  #stopWaiting = nothing;
  /** Messages that the log has not folded yet. */
  readonly #steered: (readonly UserPart[])[] = [];
  #isOver = false;
  #isOverdue = false;
  /** The reason why the run is left to be continued by another process. */
  #leftFor: AgentError | undefined;
  #written: Promise<void> = Promise.resolve();
  #output: Output | undefined;

  constructor(config: RunConfig<Output>) {
    const { runtime, limits, tools } = config;
    this.config = config;
    this.tools = toolsByName(tools);
    this.#policy = policyOf(config);
    this.#began = runtime.monotonic();
    this.log = new Log(config, this);
    this.clock = new Stopwatch(runtime, limits.ms, () => this.stop('timeout'));
  }

  /** Performs actions until the run has ended. Never rejects. */
  async run(): Promise<RunResult<Output>> {
    const stopListening = this.#begin(
      (reason) => void this.stop(summarize(reason).name === 'TimeoutError' ? 'timeout' : 'cancelled'),
    );
    await this.#inTime(this.#runOpened(false));
    await this.#settle(stopListening);
    return this.#result();
  }

  /**
   * Performs one action, and the end of the run if it follows. A signal with any reason other than `cancelled` leaves
   * the run as a crash would.
   * @throws AgentError if the store failed, or if the run was left during an action.
   */
  async advance(): Promise<Advance<Output>> {
    const stopListening = this.#begin((reason) =>
      AgentError.is(reason) && reason.code === 'cancelled'
        ? void this.stop('cancelled')
        : this.#leave(AgentError.from(reason, 'agent', 'run_stopped')),
    );
    await this.#inTime(this.#runOpened(true));
    await this.#settle(stopListening);
    const { failure } = this.log;
    // Recorded events stay recorded, so a retry is safe.
    if (failure !== undefined) throw new AgentError({ ...failure.toJSON(), retryable: isTemporary(failure) });
    if (this.#leftFor !== undefined) throw this.#leftFor;
    const { finished, seq } = this.state;
    if (finished !== undefined) return { over: true, result: this.#result() };
    return { over: false, seq, ...defined({ waitUntil: waitingUntil(this.state) }) };
  }

  cancel(): boolean {
    return this.stop('cancelled');
  }

  /** Asks the run to end. Returns false if it has already ended. */
  stop(reason: 'cancelled' | 'timeout'): boolean {
    const isOpen = !this.log.closed;
    if (isOpen && !this.isStopping) void this.log.append([{ type: 'stop_requested', reason }]);
    // The end of a closed run cannot be changed anymore, but waiting for a slow store can be stopped.
    if (!this.#isOver) this.#abort(errorOf(reason, undefined));
    return isOpen;
  }

  /** Queues a message for the next turn. Returns false if it is empty, or if no turn follows: the run ends or is closing. */
  steer(content: readonly UserPart[]): boolean {
    const isEnding = this.log.closed || this.isStopping || this.state.closing !== undefined;
    if (isEnding || !saysSomething(content)) return false;
    checkWaiting([...this.state.steering, ...this.#steered, content], 'messages to the run');
    this.#steered.push(content);
    void this.log.append([{ type: 'user', content: wellFormedParts(content), steer: true }]);
    return true;
  }

  /** Decides an approval once. Returns false if it is not open. */
  decide(approvalId: string, { decision, message, more }: ApprovalDecision): boolean {
    if (this.log.closed || this.isStopping) return false;
    const asked = openRequests(this.state).find((request) => request.approvalId === approvalId);
    checkMore(asked, { more });
    return (
      asked !== undefined && this.#recordDecision(approvalId, { decision, ...defined({ message, more }) })
    );
  }

  get #asked(): Approvals {
    this.#approvals ??= new Approvals(() => this.config.runtime.monotonic(), this.#began);
    return this.#approvals;
  }

  /** Records a decision, unless there is one. */
  #recordDecision(
    approvalId: string,
    given: Pick<ApprovalDecidedEvent, 'decision' | 'message' | 'more' | 'by'>,
  ): boolean {
    if (!this.#asked.take(approvalId)) return false;
    const waitedMs = this.#asked.waitedMs(approvalId);
    void this.log.append([{ type: 'approval_decided', approvalId, ...given, waitedMs }]);
    return true;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.isStopping) this.#controller.abort(this.#stopReason);
    return this.#controller.signal;
  }

  onStop(listener: (reason: unknown) => void): () => void {
    this.#onStop = [...this.#onStop, listener];
    return () => {
      this.#onStop = this.#onStop.filter((one) => one !== listener);
    };
  }

  /** Leaves the run as it is. Running work is asked to stop and is not recorded. */
  #leave(reason: AgentError): void {
    this.#leftFor = reason;
    this.log.close();
    this.#abort(reason);
  }

  /** Claims the session. Returns a function that stops listening to the signal of the caller. */
  #begin(onAbort: (reason: unknown) => void): () => void {
    const { signal, onEvent, sessionId, runId } = this.config;
    if (onEvent !== undefined) this.feed.listen(onEvent);
    this.feed.publish({ type: 'started', v: 1, sessionId, runId });
    this.log.open();
    if (signal === undefined) return nothing;
    const abort = () => onAbort(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
    return () => signal.removeEventListener('abort', abort);
  }

  /** Ends a run that its work has not ended, and waits, for a limited time, until everything is written. */
  async #settle(stopListening: () => void): Promise<void> {
    if (!this.log.closed) this.#end(this.#storeFailed() ?? { type: 'finish', status: 'cancelled' });
    await this.#inTime(this.#written);
    this.log.leave();
    this.#isOver = true;
    this.clock.stop();
    this.#stopWaiting();
    stopListening();
  }

  /** Resolves when the work has ended, or when its time is over. */
  #inTime(work: Promise<void>): Promise<void> {
    return new Promise((resolve) => {
      this.#giveUp = resolve;
      if (this.#isOverdue) resolve();
      void work.then(resolve);
    });
  }

  claim(): Promise<Claim> {
    return claimSession(this.config);
  }

  /**
   * Performs actions until the run has ended, or one action, and the end of the run if it follows. An action starts in the
   * same turn of the event loop as the decision, because another run could use up the shared budget in the meantime. Never
   * rejects. The only frame of the driver that waits with a request.
   */
  async #runOpened(isStep: boolean): Promise<void> {
    try {
      if (this.log.busy) await this.#untilSettled();
      const charged = chargePast(this.config, this.state);
      if (charged !== undefined) await charged;
      const { runtime, waitEnded } = this.config;
      // Another process can ask for a step too early, which must not leave anything in the log.
      const isEarly = waitEnded === undefined && (waitingUntil(this.state) ?? 0) > runtime.now();
      let left = isStep ? Number(!isEarly) : Number.POSITIVE_INFINITY;
      if (isStep && this.state.finished !== undefined)
        await this.#readOutput({ type: 'finish', status: this.state.finished.status });
      else
        while (!this.log.closed) {
          if (this.state.question !== undefined || this.state.raised !== notRaised)
            await applyGrants(this.config, this.state);
          const action =
            (this.log.failure && this.#storeFailed()) ??
            decide(this.state, withLimits(this.#policy, this.config, this.state));
          if (action.type !== 'finish') left -= 1;
          if (left < 0) break;
          const { seq } = this.state;
          const performed = this.#perform(action);
          // An action whose gate, tools and store answer at once has ended already.
          if (performed !== undefined) await performed;
          if (this.log.busy) await this.#untilSettled();
          const isStuck =
            action.type !== 'finish' && this.state.seq === seq && this.log.failure === undefined;
          if (isStuck) throw stuck(action.type);
        }
      if (!isStep || this.log.closed) return;
      this.log.close();
      this.feed.end();
    } catch (thrown) {
      this.#end(finishAsFailed(thrown));
    }
  }

  #perform(action: Action): Promise<void> | undefined {
    switch (action.type) {
      case 'request':
        return requestModel(this, action);
      case 'call_tools':
        return callTools(this, action.calls);
      case 'compact':
        return compact(this);
      case 'wait_for_answer':
        return waitForAnswer(this);
      case 'finish':
        return this.#finish(action);
      default:
        return assertNever(action);
    }
  }

  /** Ends the run, unless a message arrived while its output was read or a hook sent one: then the run continues. */
  async #finish(action: Finish): Promise<void> {
    const { seq } = this.state;
    const finish = await changedEnd(this, await this.#readOutput(action));
    if (!this.log.busy && this.state.seq === seq) this.#end(finish);
  }

  /** Resolves when no event waits to be folded. Only then may `decide` be called. */
  async #untilSettled(): Promise<void> {
    while (this.log.busy) await this.log.untilSettled();
  }

  /** Returns the end of a run whose store failed. A run that was asked to stop ends as stopped, whatever the store did. */
  #storeFailed(): Finish | undefined {
    const { failure } = this.log;
    return failure === undefined || this.state.stop !== undefined ? undefined : finishAsFailed(failure);
  }

  /** Writes the end. After that, nothing is accepted or recorded. An earlier request to stop overrides the given end. */
  #end(wanted: Finish): void {
    if (this.log.closed) return;
    const durationMs = this.config.runtime.monotonic() - this.#began;
    const event = finishedEvent(wanted, this.log.foreseen(), durationMs);
    this.feed.muteLive();
    this.#written = this.log.finish(event).then(() => {
      this.#approvals?.release();
      this.feed.end();
    });
  }

  #result(): RunResult<Output> {
    return outcomeOf(this.log.foreseen(), {
      sessionId: this.config.sessionId,
      runId: this.config.runId,
      response: this.lastResponse,
      output: this.#output,
      answerTool: this.config.output?.tool?.name,
    });
  }

  /** Reads the output of a complete run. A response without the required shape makes the run fail. */
  async #readOutput(action: Finish): Promise<Finish> {
    const { output } = this.config;
    if (output === undefined || action.status !== 'complete') return action;
    try {
      const given = lastText(this.state, { response: this.lastResponse, answerTool: output.tool?.name });
      this.#output = await output.parse(given);
      return action;
    } catch (thrown) {
      return finishAsFailed(thrown);
    }
  }

  publish(event: Event | UnstoredEnd): void {
    if (event.type === 'approval_requested') this.#asked.recordRequest(event.approvalId);
    if (event.type === 'approval_decided') this.#asked.decide(event.approvalId);
    if (event.type === 'user') {
      this.wake();
      if (event.steer) this.#steered.shift();
    }
    this.feed.publish(event);
  }

  async decided({ approvalId, expiresAt }: ApprovalRequestedEvent): Promise<void> {
    const { runtime } = this.config;
    const expire = () => void this.#recordDecision(approvalId, { decision: 'expired' });
    const left = expiresAt === undefined ? undefined : Math.max(0, expiresAt - runtime.now());
    const cancel = left === undefined ? () => {} : runtime.timer(left, expire);
    await this.#asked.decided(approvalId, this.signal);
    cancel();
  }

  onFailure(error: AgentError): void {
    this.#abort(error);
  }

  #abort(reason: AgentError | undefined): void {
    if (this.isStopping) return;
    this.#stopWaiting = this.config.runtime.timer(stopTimeoutMs, () => {
      this.#isOverdue = true;
      this.#giveUp();
    });
    this.isStopping = true;
    this.#stopReason = reason;
    this.sending?.stopWith(reason);
    for (const listener of this.#onStop) listener(reason);
    this.#controller?.abort(reason);
    this.wake();
    this.#approvals?.release();
  }
}

const nothing = (): void => {};

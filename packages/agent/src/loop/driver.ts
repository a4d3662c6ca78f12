import type { ApprovalRequestedEvent, Event, FinishedEvent, UnstoredEnd } from '../events/event.ts';
import type { State } from '../events/state.ts';
import { emptyState, undecided } from '../events/state.ts';
import type { ModelResponse } from '../interfaces/agent.ts';
import { openSession } from '../store/open-session.ts';
import { defined } from '../values/defined.ts';
import { AgentError } from '../values/errors.ts';
import type { UserPart } from '../values/message.ts';
import { wellFormedParts } from '../values/unicode.ts';
import type { Finish, Policy } from './action.ts';
import type { ApprovalDecision } from './approval-decision.ts';
import { Approvals } from './approvals.ts';
import { call } from './call-tools.ts';
import { compact } from './compact.ts';
import { decide } from './decide.ts';
import { Feed } from './feed.ts';
import type { Claim } from './log.ts';
import { Log } from './log.ts';
import type { RunConfig, RunOptions } from './options.ts';
import { policyOf } from './policy.ts';
import { ask } from './request-model.ts';
import { lastText, outcomeOf } from './result.ts';
import type { Advance, RunResult } from './run.ts';
import { errorOf, Run } from './run.ts';
import type { RunContext, Step } from './run-context.ts';
import { Stopwatch } from './stopwatch.ts';

/**
 * How long a run that was told to stop, or whose store failed, may take to come to a good end, in
 * milliseconds. Then it is left behind: whatever it still waits for can change nothing any more.
 */
const patienceMs = 200;

/** Starts a run: the local driver, which asks `decide` what comes next and performs it until it says `finish`. */
export function drive<Output>(plan: RunConfig<Output>, options: RunOptions<Output>): Run<Output> {
  const driver = new Driver(plan, options);
  const control = {
    cancel: () => driver.stop('cancelled'),
    steer: (content: readonly UserPart[]) => driver.steer(content),
    decide: (approvalId: string, answer: ApprovalDecision) => driver.answer(approvalId, answer),
  };
  return new Run({ id: driver.runId, sessionId: driver.sessionId }, driver.result(), driver.feed, control);
}

/**
 * Does one action of a run and leaves it.
 * @throws AgentError see `Executor.advance`.
 */
export function driveOnce<Output>(
  plan: RunConfig<Output>,
  options: RunOptions<Output>,
): Promise<Advance<Output>> {
  return new Driver({ ...plan, byAction: true }, options).advance();
}

class Driver<Output> {
  readonly runId: string;
  readonly sessionId: string;
  readonly feed: Feed = new Feed();
  readonly #plan: RunConfig<Output>;
  readonly #policy: Policy;
  readonly #options: RunOptions<Output>;
  readonly #state: State = emptyState();
  readonly #log: Log;
  readonly #work: RunContext;
  readonly #stopping = new AbortController();
  readonly #whenStopped = new Set<() => void>();
  readonly #overdue = Promise.withResolvers<void>();
  readonly #began: number;
  readonly #clock: Stopwatch;
  readonly #approvals: Approvals;
  #stopWaiting = () => {};
  #hasActed = false;
  /** Whether the run is left where it is. */
  #isLeft = false;
  #isOver = false;
  #written: Promise<void> = Promise.resolve();
  #response: ModelResponse | undefined;
  #output: Output | undefined;

  constructor(plan: RunConfig<Output>, options: RunOptions<Output>) {
    const { runtime, store, storeTimeoutMs } = plan.options;
    this.#plan = plan;
    this.#options = options;
    this.#policy = policyOf(plan, this.#state);
    this.runId = options.runId ?? runtime.id();
    this.sessionId = options.sessionId ?? runtime.id();
    this.#began = runtime.monotonic();
    this.#approvals = new Approvals(() => runtime.monotonic());
    // One listener for all that a run does: each costs as much on the signal as reading a part of an answer.
    this.#stopping.signal.addEventListener('abort', () => {
      for (const listener of [...this.#whenStopped]) listener();
    });
    this.#log = new Log({
      store,
      sessionId: this.sessionId,
      runId: this.runId,
      state: this.#state,
      runtime,
      storeTimeoutMs: storeTimeoutMs ?? 5000,
      claim: () => this.#claim(),
      open: plan.open,
      publish: (event) => this.#publish(event),
      onFailure: (error) => this.#abort(error),
    });
    this.#clock = new Stopwatch(runtime, plan.limits.ms, () => this.stop('timeout'));
    this.#work = this.#workOf(plan);
  }

  /** Runs to the end. Never rejects. */
  async result(): Promise<RunResult<Output>> {
    const { signal, onEvent } = this.#options;
    if (onEvent !== undefined) this.feed.listen(onEvent);
    this.feed.start({ type: 'started', v: 1, sessionId: this.sessionId, runId: this.runId });
    const onAbort = () => this.#stopFor(signal?.reason);
    signal?.addEventListener('abort', onAbort, { once: true });
    this.#log.open();
    if (signal?.aborted) onAbort();
    await Promise.race([this.#loop(), this.#overdue.promise]);
    if (!this.#isLeft) this.#end(this.#storeFailed() ?? { type: 'finish', status: 'cancelled' });
    await Promise.race([this.#written, this.#overdue.promise]);
    this.#log.leave();
    this.#isOver = true;
    this.#clock.stop();
    this.#stopWaiting();
    signal?.removeEventListener('abort', onAbort);
    return this.#result();
  }

  /** @throws AgentError when the store failed, or the run was left in the middle of an action. */
  async advance(): Promise<Advance<Output>> {
    const result = await this.result();
    const { failure } = this.#log;
    // What was recorded is recorded: to come again is safe, unless somebody else has the session now.
    if (failure !== undefined)
      throw new AgentError({ ...failure.toJSON(), retryable: failure.code !== 'fenced' });
    if (this.#isLeft && this.#stopping.signal.aborted) throw AgentError.from(this.#stopping.signal.reason);
    const { finished, seq } = this.#state;
    return finished === undefined ? { over: false, seq } : { over: true, result };
  }

  /** Asks the run to end. False when it already has. */
  stop(reason: 'cancelled' | 'timeout'): boolean {
    if (this.#log.closed) {
      // Too late to change the end, but not to wait no longer for a slow store to take it.
      if (!this.#isOver) this.#abort(errorOf(reason, undefined));
      return false;
    }
    if (this.#stopping.signal.aborted) return true;
    void this.#log.append([{ type: 'stop_requested', reason }]);
    this.#abort(errorOf(reason, undefined));
    return true;
  }

  /**
   * Queues a message for the next turn. False when no turn will follow, because the run is over, stopping or
   * at its closing answer, or when there is nothing in it.
   */
  steer(content: readonly UserPart[]): boolean {
    const isEnding = this.#log.closed || this.#stopping.signal.aborted || this.#state.closing !== undefined;
    if (isEnding || !saysSomething(content)) return false;
    void this.#log.append([{ type: 'user', content: wellFormedParts(content), steer: true }]);
    return true;
  }

  /** Answers an approval once. False when it is not open. */
  answer(approvalId: string, { decision, message }: ApprovalDecision): boolean {
    if (this.#log.closed || this.#stopping.signal.aborted) return false;
    const open = undecided(this.#state).some(
      (waiting) => waiting.approval?.request.approvalId === approvalId,
    );
    if (!open || !this.#approvals.take(approvalId)) return false;
    const waitedMs = this.#approvals.waited(approvalId);
    const said = message === undefined ? {} : { message };
    void this.#log.append([{ type: 'approval_decided', approvalId, decision, ...said, waitedMs }]);
    return true;
  }

  /** A run that is done action by action is only cancelled in so many words: any other stop is for now. */
  #stopFor(reason: unknown): void {
    if (this.#plan.byAction !== true) return void this.stop(isDeadline(reason) ? 'timeout' : 'cancelled');
    if (isCancel(reason)) return void this.stop('cancelled');
    this.#isLeft = true;
    this.#log.close();
    this.#abort(AgentError.from(reason));
  }

  async #claim(): Promise<Claim> {
    const { store } = this.#plan.options;
    if (this.#options.sessionId === undefined)
      return { epoch: await store.claim(this.sessionId), state: emptyState() };
    // To claim a session is to make it: one that is only to be taken up again must be there already.
    if (this.#plan.resumes && (await store.read(this.sessionId, 0, 1)).length === 0)
      return { epoch: 0, state: emptyState() };
    const epoch = await store.claim(this.sessionId);
    return { epoch, state: await openSession(store, this.sessionId) };
  }

  /** Asks what comes next and performs it, until the run has ended. Never rejects. */
  async #loop(): Promise<void> {
    try {
      await this.#settled();
      if (this.#plan.resumes || this.#plan.byAction) this.#bookPast();
      while (!this.#log.closed && !this.#isLeft) await this.#next();
    } catch (thrown) {
      this.#end({ type: 'finish', status: 'failed', error: AgentError.from(thrown).toJSON() });
    }
  }

  async #next(): Promise<void> {
    const { seq, finished } = this.#state;
    if (this.#plan.byAction && finished !== undefined) return this.#leave();
    const action = this.#storeFailed() ?? decide(this.#state, this.#policy);
    if (action.type === 'finish') {
      const read = await this.#readOutput(action);
      // What was said meanwhile is heard first.
      if (this.#log.busy || this.#state.seq !== seq) return this.#settled();
      return this.#end(read);
    }
    if (this.#plan.byAction && this.#hasActed) return this.#leave();
    if (action.type === 'ask') await ask(this.#work, action);
    else if (action.type === 'call') await call(this.#work, action.calls);
    else await compact(this.#work);
    this.#hasActed = true;
    await this.#settled();
    if (this.#state.seq === seq && this.#log.failure === undefined) throw stuck(action.type);
  }

  #leave(): void {
    this.#isLeft = true;
    this.#log.close();
    this.feed.end();
  }

  /** Resolves when nothing waits to be folded: the only moment at which `decide` may be asked. */
  async #settled(): Promise<void> {
    while (this.#log.busy) await this.#log.settled();
  }

  /** A run that was told to stop ends as that, whatever the store did. */
  #storeFailed(): Finish | undefined {
    const { failure } = this.#log;
    if (failure === undefined || this.#state.stop !== undefined) return undefined;
    return { type: 'finish', status: 'failed', error: failure.toJSON() };
  }

  /** What a resumed run has spent so far counts towards its limits. A budget from outside has its own account. */
  #bookPast(): void {
    if (this.#options.budget !== undefined) return;
    const { totalInputTokens, totalOutputTokens, wasted, usd } = this.#state.metrics;
    const tokens = totalInputTokens + totalOutputTokens + wasted.inputTokens + wasted.outputTokens;
    const { budget } = this.#plan;
    budget.reserve(0, 0).settle(tokens, usd ?? 0);
    budget.take('turns', Math.min(this.#state.turns, budget.left('turns')));
    budget.take('toolCalls', Math.min(this.#state.toolCalls, budget.left('toolCalls')));
  }

  /** Writes the end. From here on nothing is heard or recorded; a stop that was heard before beats all else. */
  #end(wanted: Finish): void {
    if (this.#log.closed) return;
    const { stop, metrics } = this.#log.foreseen();
    const { status, limit, error }: Finish = stop === undefined ? wanted : { type: 'finish', status: stop };
    const event: FinishedEvent = {
      type: 'finished',
      status,
      ...defined({ limit }),
      ...errorField(errorOf(status, error)?.toJSON()),
      metrics: { ...metrics, durationMs: this.#plan.options.runtime.monotonic() - this.#began },
    };
    this.feed.hush();
    this.#written = this.#log.finish(event).then(() => {
      this.#approvals.release();
      this.feed.end();
    });
  }

  #result(): RunResult<Output> {
    return outcomeOf(this.#log.foreseen(), {
      sessionId: this.sessionId,
      runId: this.runId,
      response: this.#response,
      output: this.#output,
      answerTool: this.#plan.output?.tool?.name,
    });
  }

  /** An answer that should have a shape and does not have it makes the run a failure, not a success. */
  async #readOutput(action: Finish): Promise<Finish> {
    const { output } = this.#plan;
    if (output === undefined || action.status !== 'complete') return action;
    try {
      const given = lastText(this.#state, { response: this.#response, answerTool: output.tool?.name });
      this.#output = await output.parse(given);
      return action;
    } catch (thrown) {
      return { type: 'finish', status: 'failed', error: AgentError.from(thrown).toJSON() };
    }
  }

  #publish(event: Event | UnstoredEnd): void {
    if (event.type === 'approval_requested') this.#approvals.asked(event.approvalId);
    if (event.type === 'approval_decided') this.#approvals.decide(event.approvalId);
    this.feed.publish(event);
  }

  async #decided({ approvalId, expiresAt }: ApprovalRequestedEvent): Promise<void> {
    const { runtime } = this.#plan.options;
    const expire = () => {
      if (!this.#approvals.take(approvalId)) return;
      const waitedMs = this.#approvals.waited(approvalId);
      void this.#log.append([{ type: 'approval_decided', approvalId, decision: 'expired', waitedMs }]);
    };
    const left = expiresAt === undefined ? undefined : Math.max(0, expiresAt - runtime.now());
    const cancel = left === undefined ? () => {} : runtime.timer(left, expire);
    await this.#approvals.decided(approvalId, this.#stopping.signal);
    cancel();
  }

  #abort(reason: AgentError | undefined): void {
    if (this.#stopping.signal.aborted) return;
    this.#stopWaiting = this.#plan.options.runtime.timer(patienceMs, () => this.#overdue.resolve());
    this.#stopping.abort(reason);
    this.#approvals.release();
  }

  #workOf(plan: RunConfig<Output>): RunContext {
    const { agent, system, request, toolErrors, toolScheduling, gate, context } = plan.options;
    const step: Step = async (_name, effect, how) => {
      const made = effect();
      const recorded = this.#log.record(made instanceof Promise ? await made : made, how);
      const isRecorded = typeof recorded === 'boolean' ? recorded : await recorded;
      return { replayed: false, recorded: isRecorded && this.#log.failure === undefined };
    };
    return {
      sessionId: this.sessionId,
      agent,
      tools: new Map(plan.tools.map((tool) => [tool.name, tool])),
      declared: plan.tools,
      config: request ?? {},
      toolErrors: toolErrors ?? 'continue',
      toolScheduling: toolScheduling ?? 'parallel',
      oneCall: plan.byAction ?? false,
      gate,
      budget: plan.budget,
      pricing: plan.options.pricing,
      allowUnpriced: plan.options.allowUnpriced ?? false,
      attended: plan.options.attended ?? false,
      runtime: plan.options.runtime,
      state: this.#state,
      signal: this.#stopping.signal,
      whenStopped: (listener) => {
        this.#whenStopped.add(listener);
        return () => void this.#whenStopped.delete(listener);
      },
      step,
      live: this.feed.live,
      soFar: () => this.feed.soFar.content,
      answered: (response) => {
        this.#response = response;
      },
      pauseClock: () => this.#clock.hold(),
      decided: (asked) => this.#decided(asked),
      ...defined({
        approvalMs: plan.options.approvalMs,
        system,
        context,
        output: plan.output?.shape,
        answerTool: plan.output?.tool,
      }),
    };
  }
}

function errorField<Value>(error: Value | undefined): { error?: Value } {
  return error === undefined ? {} : { error };
}

function isCancel(reason: unknown): boolean {
  return AgentError.is(reason) && reason.code === 'cancelled';
}

function isDeadline(reason: unknown): boolean {
  return reason instanceof Error && reason.name === 'TimeoutError';
}

function saysSomething(content: readonly UserPart[]): boolean {
  return content.some((part) => part.type !== 'text' || part.text.trim() !== '');
}

function stuck(action: string): AgentError {
  const message = `The run made no progress: "${action}" recorded nothing.`;
  return new AgentError({ kind: 'agent', code: 'stuck', message });
}

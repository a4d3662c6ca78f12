import { inputBound } from '../context/context.ts';
import type {
  Agent,
  AgentEvent,
  CacheBreak,
  ModelRequest,
  ModelResponse,
  OwnRun,
  RequestOwner,
  StopReason,
  TriedModel,
} from '../interfaces/agent.ts';
import { readModelRef } from '../interfaces/agent.ts';
import type { LimitName, Price } from '../interfaces/limits.ts';
import { costOf, noPricing } from '../interfaces/limits.ts';
import { ownContext } from '../interfaces/own-context.ts';
import { isOwnResponse } from '../interfaces/own-response.ts';
import { ownRuns } from '../interfaces/own-runs.ts';
import type { BudgetHold, HoldRequest, PendingHold, Reservation } from '../interfaces/reservation.ts';
import { readTriedModel } from '../interfaces/spending.ts';
import { discardedFor } from '../run/compose/attribution.ts';
import { assistantContent } from '../run/content.ts';
import { AgentError } from '../values/errors.ts';
import { any, count, data, limited, listOf, read, readUsage, record, text } from '../values/input.ts';
import { LazyAbortSignal } from '../values/lazy-abort-signal.ts';
import type { AssistantMessage } from '../values/message.ts';
import { callsOf } from '../values/message.ts';
import { frozen } from '../values/owned.ts';
import { maxAnswerBytes, maxCalls } from '../values/sizes.ts';
import { wellFormedAnswer } from '../values/unicode.ts';
import type { Usage } from '../values/usage.ts';
import { isNoUsage, noUsage } from '../values/usage.ts';
import {
  inputCost,
  missedBy,
  noCost,
  pricedBreak,
  requestCost,
  spendingOf,
  worstPrice,
} from './request-cost.ts';
import type { CachedPrefix, RunContext } from './run-context.ts';

/** Maximum number of tokens in a response under a limit, if neither the request nor the agent sets one. */
const defaultOutput = 32_000;

/** Minimum number of tokens available for a response, so that it is worth its input. */
const minOutput = 256;

/** Maximum time to wait for other requests that have reserved the room in a budget, in milliseconds. */
const roomTimeoutMs = 60_000;

/** Time in milliseconds in which an agent that was asked to stop can report its usage. */
const graceMs = 50;

/** A request, the agent that it goes to and the receiver of its live events. */
export interface PendingRequest {
  readonly agent: Agent;
  readonly request: ModelRequest;
  /** Returns the maximum number of input tokens; called only if something is limited. Default: of the messages of the run. */
  readonly inputTokens?: () => number;
  readonly emit: RunContext['emit'];
}

/** A response and its cost. */
export interface PricedResponse {
  readonly response: ModelResponse;
  /** In US dollars; undefined if a price is unknown. */
  readonly usd: number | undefined;
  /** The models that were asked first, each with its cost. */
  readonly tried: readonly TriedModel[] | undefined;
  /** The limit that left less room for the response than requested. */
  readonly shortenedBy: LimitName | undefined;
}

/**
 * Sends one request within the budget. Its worst case is reserved first, and its actual usage is charged afterwards,
 * even if it fails.
 * @throws AgentError
 */
export function askWithin(run: RunContext, asked: PendingRequest): Promise<PricedResponse> {
  return new Promise((resolve, reject) => {
    new SentRequest(run, asked, (outcome) =>
      outcome instanceof AgentError ? reject(outcome) : resolve(outcome),
    ).start();
  });
}

/** Receives the outcome of a request once. */
type Settle = (outcome: PricedResponse | AgentError) => void;

/**
 * A request within the budget, as {@link askWithin} sends it, without a promise. It stops waiting for the agent when the run stops, because an agent may ignore the
 * signal: it then has a short time to reject, because its error contains the usage of the request.
 */
export class SentRequest implements RequestOwner {
  readonly #run: RunContext;
  readonly #asked: PendingRequest;
  /** Undefined once the request has its outcome. */
  #settle: Settle | undefined;
  /** Absent if nothing is limited, or not yet reserved. */
  #held: Reservation | undefined;
  /** Ends the wait for room in the budget. */
  #cancelWait: (() => void) | undefined;
  #shortenedBy: LimitName | undefined;
  /** True once the agent has ended or the run must stop: later events are dropped. */
  #isOver = false;
  readonly stop: LazyAbortSignal = new LazyAbortSignal();
  readonly emit: RunContext['emit'];
  #cancelGrace: (() => void) | undefined;
  #isBreakReported = false;

  constructor(run: RunContext, asked: PendingRequest, settle: Settle) {
    this.#run = run;
    this.#asked = asked;
    this.emit = asked.emit;
    this.#settle = settle;
  }

  start(): void {
    try {
      if (this.#run.config.budget.isLimited) this.#reserve();
      else this.#send(this.#asked.request);
    } catch (error) {
      this.reject(error);
    }
  }

  /** Reserves the maximum cost of the request, then sends it. Waits if other requests have reserved the room. */
  #reserve(): void {
    const run = this.#run;
    const { budget, sessionId, runId, runtime } = run.config;
    const bounds = boundsOf(run, this.#asked);
    let isDecided = false;
    const pending: PendingHold = budget.hold(
      { ...bounds, sessionId, runId, seq: run.state.seq },
      (outcome) => {
        isDecided = true;
        this.#cancelWait?.();
        this.#cancelWait = undefined;
        if (outcome instanceof AgentError) return this.reject(outcome);
        this.#held = outcome;
        const { request, shortenedBy } = fittingRequest(this.#asked.request, bounds, outcome);
        this.#shortenedBy = shortenedBy;
        this.#send(request);
      },
    );
    if (isDecided) return;
    this.emit({ type: 'status', state: 'waiting' });
    const cancelTimer = runtime.timer(roomTimeoutMs, () => pending.decide());
    this.#cancelWait = () => {
      cancelTimer();
      pending.cancel();
    };
    run.sending = this;
  }

  #send(request: ModelRequest): void {
    const run = this.#run;
    const { agent } = this.#asked;
    try {
      this.emit({ type: 'status', state: 'thinking' });
      if (run.isStopping) return this.#giveUp();
      run.sending = this;
      const own = ownRuns.get(agent.run) as OwnRun | undefined;
      // Starts immediately, because the run may be stopped a moment later.
      if (own) return own(request, this);
      const emit = (event: AgentEvent) => {
        try {
          if (this.#isOver) return;
          if (event.type === 'cache_break') this.report(event);
          else this.emit(event);
        } catch {
          // An agent can emit anything.
        }
      };
      const context = ownContext(this.stop, emit, (wasted) => this.mayRetry(wasted));
      Promise.resolve(agent.run(request, context)).then(
        (response) => this.resolve(response),
        (error) => this.reject(error),
      );
    } catch (error) {
      this.reject(error);
    }
  }

  /** Returns whether the budget covers another attempt: a failed one has a cost too, and the next one may cost the worst case. */
  mayRetry(wasted: Usage): boolean | Promise<boolean> {
    const { price } = worstPrice(this.#run, this.#asked.agent, wasted.inputTokens);
    return this.#held?.again(tokensOf(wasted), price === undefined ? 0 : costOf(wasted, price)) ?? true;
  }

  report(event: CacheBreak): void {
    this.#isBreakReported = true;
    this.emit(pricedBreak(this.#run, this.#asked.agent, event));
  }

  /** Called when the run must stop. */
  stopWith(reason: unknown): void {
    this.#isOver = true;
    if (this.#cancelWait !== undefined) {
      this.#cancelWait();
      return this.#giveUp();
    }
    this.#cancelGrace = this.#run.config.runtime.timer(graceMs, () => this.#giveUp());
    this.stop.ask(reason);
  }

  #giveUp(): void {
    const message = 'The request was cancelled because the run stopped.';
    this.reject(new AgentError({ kind: 'aborted', code: 'run_stopped', message }));
  }

  resolve(given: unknown): void {
    const { agent } = this.#asked;
    try {
      const response = isOwnResponse(given) ? given : checkResponse(given, agent);
      const { usage, wasted } = response;
      const isPriced = this.#run.config.pricing !== noPricing || response.tried !== undefined;
      const cost = isPriced ? requestCost(this.#run, agent, response) : noCost;
      const { known, usd, tried } = cost;
      const tokens = usage.inputTokens + usage.outputTokens + wasted.inputTokens + wasted.outputTokens;
      const { budget } = this.#run.config;
      const spending = budget.isRecorded ? spendingOf(this.#run, agent, response, cost) : undefined;
      if (this.#held === undefined) budget.spend(tokens, known, spending);
      else {
        this.#held.settle(tokens, known, spending);
        this.#run.cached = cachedBy(this.#run, this.#asked, response);
      }
      if (this.#run.state.cached !== undefined && !this.#isBreakReported) {
        const missed = missedBy(this.#run, agent, response);
        if (missed !== undefined) this.emit(missed);
      }
      // The response is charged, so it must not be rejected like a request that failed.
      const fault = response.message.content.length > maxCalls ? tooManyCalls(response) : undefined;
      this.#end(fault ?? { response, usd, tried, shortenedBy: this.#shortenedBy });
    } catch (thrown) {
      this.reject(thrown);
    }
  }

  reject(thrown: unknown): void {
    const { agent } = this.#asked;
    const error = AgentError.from(thrown, 'agent', 'bad_answer');
    const { wasted = noUsage } = error;
    const { budget } = this.#run.config;
    if (this.#held !== undefined || wasted !== noUsage) {
      const cost = requestCost(this.#run, agent, error);
      const { known } = cost;
      const isUsed = budget.isRecorded && !isNoUsage(wasted);
      const spending = isUsed ? spendingOf(this.#run, agent, error, cost) : undefined;
      if (this.#held === undefined) budget.spend(tokensOf(wasted), known, spending);
      else this.#held.settle(tokensOf(wasted), known, spending);
    }
    this.#end(error);
  }

  /** Ends the request. Only its first outcome counts. */
  #end(outcome: PricedResponse | AgentError): void {
    const settle = this.#settle;
    this.#settle = undefined;
    this.#isOver = true;
    this.#cancelGrace?.();
    if (this.#run.sending === this) this.#run.sending = undefined;
    settle?.(outcome);
  }
}

/** Returns what the response has read from the cache or written to it, if the next request begins like this one. */
function cachedBy(
  { config: { runtime } }: RunContext,
  { agent: { provider, model }, inputTokens }: PendingRequest,
  { usage: { cacheReadTokens = 0, cacheWriteTokens = 0 }, servedBy }: ModelResponse,
): CachedPrefix | undefined {
  const tokens = cacheReadTokens + cacheWriteTokens;
  if (tokens === 0 || inputTokens !== undefined || servedBy !== undefined) return undefined;
  return { provider, model, tokens, at: runtime.monotonic() };
}

/**
 * Returns a response that the log can store, with defaults for fields that a custom agent left out.
 * @throws AgentError `agent`, code `bad_answer`, if it has no content or no token counts.
 */
function checkResponse(given: unknown, { model }: Agent): ModelResponse {
  const { message, stopReason, ...rest } = read(given, responseFields, 'response', 'bad_answer');
  const content = frozen(wellFormedAnswer(message.content));
  return Object.freeze({
    ...{ content: '', toolCalls: [], model, attempts: 1, wasted: noUsage },
    ...rest,
    message: Object.freeze({ role: 'assistant', content }),
    stopReason: stopReasons.has(stopReason) ? stopReason : 'unknown',
  });
}

const responseFields = record<ModelResponse>(
  {
    content: text,
    toolCalls: data,
    usage: readUsage,
    stopReason: any,
    message: record<AssistantMessage>(
      {
        role: any,
        content: limited(maxAnswerBytes, (value) => assistantContent(data(value))),
      },
      ['content'],
    ),
    model: text,
    attempts: count,
    wasted: readUsage,
    requestId: text,
    rateLimits: data,
    servedBy: readModelRef,
    tried: listOf(readTriedModel),
  },
  ['usage', 'message'],
);

/** Returns an error of kind `limit` if a response has too many calls: each can wait for a user, with a preview. */
function tooManyCalls(response: ModelResponse): AgentError | undefined {
  const calls = callsOf(response.message).length;
  if (calls <= maxCalls) return undefined;
  const message = `The response contains ${calls} calls, but the maximum is ${maxCalls}. It was discarded.`;
  return discardedFor({ kind: 'limit', code: 'answer_too_large', message }, response);
}

const stopReasons: ReadonlySet<unknown> = new Set<StopReason>([
  'complete',
  'tool_use',
  'max_tokens',
  'refusal',
  'pause',
  'context_full',
]);

/** The amounts of a request, and what they consist of. */
interface RequestBounds extends Pick<HoldRequest, 'wanted' | 'least'> {
  readonly price: Price | undefined;
  readonly inputTokens: number;
  readonly inputUsd: number;
  readonly outputTokens: number;
}

/**
 * Returns the maximum cost of the request, and the cost with a short response.
 * @throws AgentError `invalid` if money is limited and the price is unknown.
 */
function boundsOf(run: RunContext, asked: PendingRequest): RequestBounds {
  const { agent, request } = asked;
  const inputTokens = asked.inputTokens?.() ?? inputBound(run.state, request);
  const { price, unpriced } = worstPrice(run, agent, inputTokens);
  if (run.config.budget.limitsMoney && unpriced !== undefined && !run.config.allowUnpriced)
    throw noPrice(unpriced);
  // Only the conversation itself is in the cache.
  const cached = asked.inputTokens === undefined ? run.cached : undefined;
  const inputUsd = price === undefined ? 0 : inputCost(run, agent, inputTokens, price, cached);
  const outputTokens = request.config?.maxTokens || agent.maxTokens || defaultOutput;
  const amounts = (output: number) => ({
    tokens: inputTokens + output,
    usd: inputUsd + (price === undefined ? 0 : costOf({ inputTokens: 0, outputTokens: output }, price)),
  });
  const [wanted, least] = [amounts(outputTokens), amounts(Math.min(outputTokens, minOutput))];
  return { price, inputTokens, inputUsd, outputTokens, wanted, least };
}

/** Returns the request with the reserved maximum length, so that no more is used, and the limit that leaves too little. */
function fittingRequest(
  request: ModelRequest,
  { wanted, price, inputTokens, inputUsd, outputTokens }: RequestBounds,
  { tokens, usd }: BudgetHold,
): { readonly request: ModelRequest; readonly shortenedBy: LimitName | undefined } {
  const byTokens = tokens < wanted.tokens ? tokens - inputTokens : outputTokens;
  const byUsd = usd < wanted.usd ? affordableTokens(usd - inputUsd, price) : outputTokens;
  const maxTokens = Math.min(byTokens, byUsd);
  const limit = byTokens <= byUsd ? 'tokens' : 'usd';
  return {
    request: { ...request, config: { ...request.config, maxTokens } },
    shortenedBy: maxTokens < outputTokens ? limit : undefined,
  };
}

function affordableTokens(usd: number, price: Price | undefined): number {
  if (price === undefined || price.output <= 0) return usd >= 0 ? Number.POSITIVE_INFINITY : 0;
  return Math.floor((usd * 1_000_000) / price.output);
}

function noPrice(model: string): AgentError {
  return new AgentError({
    kind: 'invalid',
    code: 'unpriced',
    message: `The price of ${model} is unknown, so the cost limit cannot be enforced. Set \`pricing\` to a function that knows the price, limit tokens instead, or set \`allowUnpriced\`.`,
  });
}

function tokensOf({ inputTokens, outputTokens }: Usage): number {
  return inputTokens + outputTokens;
}

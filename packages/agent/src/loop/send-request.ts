import { inputBound } from '../context/context.ts';
import type {
  Agent,
  AgentEvent,
  ModelRequest,
  ModelResponse,
  StopReason,
  TriedModel,
} from '../interfaces/agent.ts';
import { readModelRef } from '../interfaces/agent.ts';
import type { LimitName, Price, Reservation } from '../interfaces/limits.ts';
import { costOf, dearestInput, limitError, noPricing } from '../interfaces/limits.ts';
import { ownContext } from '../interfaces/own-context.ts';
import { isOwnResponse } from '../interfaces/own-response.ts';
import { assistantContent } from '../run/content.ts';
import { readUsage } from '../run/value-functions.ts';
import { AgentError, isErrorKind } from '../values/errors.ts';
import { any, count, data, flag, limited, listOf, read, record, text, when } from '../values/input.ts';
import { LazyAbortSignal } from '../values/lazy-abort-signal.ts';
import type { AssistantMessage } from '../values/message.ts';
import { callsOf } from '../values/message.ts';
import { frozen } from '../values/owned.ts';
import { maxAnswerBytes, maxCalls } from '../values/sizes.ts';
import { wellFormedAnswer } from '../values/unicode.ts';
import type { Usage } from '../values/usage.ts';
import { addUsage, noUsage } from '../values/usage.ts';
import { noCost, requestCost, worstPrice } from './request-cost.ts';
import type { RunContext } from './run-context.ts';

/** Maximum number of tokens in a response under a limit, if neither the request nor the agent sets one. */
const defaultOutput = 32_000;

/** Minimum number of tokens available for a response, so that it is worth its input. */
const minOutput = 256;

/** Time in milliseconds in which an agent that was asked to stop can report its usage. */
const graceMs = 50;

/** A request, the agent that it goes to and the receiver of its live events. */
export interface PendingRequest {
  readonly agent: Agent;
  readonly request: ModelRequest;
  /**
   * Returns the maximum number of input tokens; called only if something is limited. Default: of the messages of the run.
   */
  readonly inputTokens?: () => number;
  readonly emit: RunContext['emit'];
}

/** A response and its cost. */
export interface PricedResponse {
  readonly response: ModelResponse;
  /** In US dollars; undefined if a price is unknown. */
  readonly usd: number | undefined;
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
    const settle: Settle = (outcome) => (outcome instanceof AgentError ? reject(outcome) : resolve(outcome));
    new SentRequest(run, asked, settle).start();
  });
}

/** Receives the outcome of a request once. */
type Settle = (outcome: PricedResponse | AgentError) => void;

/**
 * A request within the budget, as {@link askWithin} sends it, without a promise. It stops waiting for the agent when the run stops, because an agent may ignore the
 * signal: it then has a short time to reject, because its error contains the usage of the request.
 */
export class SentRequest {
  readonly #run: RunContext;
  readonly #asked: PendingRequest;
  /** Undefined once the request has its outcome. */
  #settle: Settle | undefined;
  /** Absent while nothing is charged, unless tokens or money are limited. */
  #held: Reservation | undefined;
  #shortenedBy: LimitName | undefined;
  /** True once the agent has ended or the run must stop: later events are dropped. */
  #isOver = false;
  readonly #stop = new LazyAbortSignal();
  #cancelGrace: (() => void) | undefined;

  constructor(run: RunContext, asked: PendingRequest, settle: Settle) {
    this.#run = run;
    this.#asked = asked;
    this.#settle = settle;
  }

  start(): void {
    const run = this.#run;
    const { agent, emit: show } = this.#asked;
    try {
      const { request, reservation, shortenedBy } = reserve(run, this.#asked);
      this.#held = reservation;
      this.#shortenedBy = shortenedBy;
      show({ type: 'status', state: 'thinking' });
      if (run.isStopping) return this.#giveUp();
      run.sending = this;
      const emit = (event: AgentEvent) => {
        try {
          if (!this.#isOver) show(event);
        } catch {
          // An agent can emit anything.
        }
      };
      // A failed attempt has a cost too, and the next one may cost the worst case again.
      const mayRetry = (wasted: Usage) => {
        const { price } = worstPrice(run, agent, wasted.inputTokens);
        return this.#reservation.again(tokensOf(wasted), price === undefined ? 0 : costOf(wasted, price));
      };
      // Starts immediately, because the run may be stopped a moment later.
      Promise.resolve(agent.run(request, ownContext(this.#stop, emit, mayRetry))).then(
        (response) => this.#answered(response),
        (error) => this.#failed(error),
      );
    } catch (error) {
      this.#failed(error);
    }
  }

  /** Called when the run must stop. */
  stopWith(reason: unknown): void {
    this.#isOver = true;
    this.#cancelGrace = this.#run.config.runtime.timer(graceMs, () => this.#giveUp());
    this.#stop.ask(reason);
  }

  #giveUp(): void {
    const message = 'The request was cancelled because the run stopped.';
    this.#failed(new AgentError({ kind: 'aborted', code: 'run_stopped', message }));
  }

  get #reservation(): Reservation {
    this.#held ??= this.#run.config.budget.reserve(0, 0);
    return this.#held;
  }

  #answered(given: unknown): void {
    const { agent } = this.#asked;
    try {
      const response = isOwnResponse(given) ? given : checkResponse(given, agent);
      const { usage, wasted } = response;
      const isPriced = this.#run.config.pricing !== noPricing;
      const { known, usd } = isPriced ? requestCost(this.#run, agent, response) : noCost;
      const tokens = usage.inputTokens + usage.outputTokens + wasted.inputTokens + wasted.outputTokens;
      this.#reservation.settle(tokens, known);
      // Each call can wait for a user, with a preview of what it would do.
      if (response.message.content.length > maxCalls) checkCalls(response);
      this.#end({ response, usd, shortenedBy: this.#shortenedBy });
    } catch (thrown) {
      this.#failed(thrown);
    }
  }

  #failed(thrown: unknown): void {
    const { agent } = this.#asked;
    const error = AgentError.from(thrown, 'agent', 'bad_answer');
    const { wasted = noUsage } = error;
    if (wasted !== noUsage || this.#held !== undefined)
      this.#reservation.settle(tokensOf(wasted), requestCost(this.#run, agent, error).known);
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

const readTriedModel = record<TriedModel>(
  {
    ...{ provider: text, model: text, kind: when(isErrorKind, 'the kind of an error'), message: text },
    ...{ code: text, skipped: flag, attempts: count, wasted: readUsage },
  },
  ['provider', 'model', 'kind', 'message'],
);

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

/** @throws AgentError `limit`, code `answer_too_large`, with the usage of the response. */
function checkCalls({ message, usage, wasted, attempts }: ModelResponse): void {
  const calls = callsOf(message).length;
  if (calls <= maxCalls) return;
  throw new AgentError({
    kind: 'limit',
    code: 'answer_too_large',
    message: `The response contains ${calls} calls, but the maximum is ${maxCalls}. It was discarded.`,
    wasted: addUsage(usage, wasted),
    attempts,
  });
}

const stopReasons: ReadonlySet<unknown> = new Set<StopReason>([
  'complete',
  'tool_use',
  'max_tokens',
  'refusal',
  'pause',
  'context_full',
]);

/** A request that fits the budget. */
interface ReservedRequest {
  readonly request: ModelRequest;
  readonly reservation?: Reservation;
  /** The limit that leaves less room for the response than requested. */
  readonly shortenedBy?: LimitName;
}

/**
 * Reserves the maximum cost of the request. If a limit leaves less room than the response may need, the maximum
 * length of the response is reduced, so that the limit can be used up but not exceeded.
 * @throws AgentError `limit` if the budget has no room, `invalid` if money is limited and the price is unknown.
 */
function reserve(run: RunContext, asked: PendingRequest): ReservedRequest {
  const { agent, request } = asked;
  const { budget } = run.config;
  if (budget.tokensLeft === Number.POSITIVE_INFINITY && !budget.limitsMoney) {
    return { request };
  }
  const inputTokens = asked.inputTokens?.() ?? inputBound(run.state, request);
  const { price, unpriced } = worstPrice(run, agent, inputTokens);
  if (budget.limitsMoney && unpriced !== undefined && !run.config.allowUnpriced) throw noPrice(unpriced);
  // It is not known yet how much of the input the provider's cache will serve.
  const inputUsd = price === undefined ? 0 : dearestInput(inputTokens, price);
  const usdLeft = budget.usdLeft - inputUsd;
  const wanted = request.config?.maxTokens || agent.maxTokens || defaultOutput;
  const room = { tokens: budget.tokensLeft - inputTokens, usd: affordableTokens(usdLeft, price) };
  const outputTokens = Math.min(wanted, room.tokens, room.usd);
  const limit = room.tokens <= room.usd ? 'tokens' : 'usd';
  if (outputTokens < Math.min(wanted, minOutput)) {
    throw limitError(limit, `The limit on ${limit} leaves no room for another request.`);
  }
  const outputUsd = price === undefined ? 0 : costOf({ inputTokens: 0, outputTokens }, price);
  const reservation = budget.reserve(inputTokens + outputTokens, inputUsd + outputUsd);
  // Set even if the limit leaves enough room, so that the service cannot use more than was reserved.
  const config = { ...request.config, maxTokens: outputTokens };
  return {
    request: { ...request, config },
    reservation,
    ...(outputTokens < wanted && { shortenedBy: limit }),
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
    message: `The price of ${model} is unknown, so the cost limit cannot be enforced. Provide the price, or allow models whose price is unknown.`,
  });
}

function tokensOf({ inputTokens, outputTokens }: Usage): number {
  return inputTokens + outputTokens;
}

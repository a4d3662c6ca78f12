import { inputBound } from '../context/context.ts';
import type { EventBody } from '../events/event.ts';
import type { Agent, AgentEvent, ModelRequest, ModelResponse, StopReason } from '../interfaces/agent.ts';
import type { LimitName, Price, Reservation } from '../interfaces/limits.ts';
import { costOf, dearestInput, limitError } from '../interfaces/limits.ts';
import { isOwnResponse } from '../interfaces/own-response.ts';
import { assistantContent } from '../run/content.ts';
import { readPrice, readUsage } from '../run/value-functions.ts';
import { AgentError } from '../values/errors.ts';
import { any, count, data, limited, read, record, text } from '../values/input.ts';
import { maxAnswerBytes, maxCalls } from '../values/max-sizes.ts';
import type { AssistantMessage } from '../values/message.ts';
import { callsOf } from '../values/message.ts';
import { frozen } from '../values/owned.ts';
import { wellFormedAnswer } from '../values/unicode.ts';
import type { Usage } from '../values/usage.ts';
import { addUsage, isNoUsage, noUsage } from '../values/usage.ts';
import type { Action } from './action.ts';
import { acceptedResponse, changedRequest } from './hooks.ts';
import type { RunContext } from './run-context.ts';

/** Maximum number of tokens in a response under a limit, if neither the request nor the agent sets one. */
const defaultOutput = 32_000;

/** Minimum number of tokens available for a response, so that it is worth its input. */
const minOutput = 256;

/** Time in milliseconds in which an agent that was asked to stop can report its usage. */
const graceMs = 50;

/** Sends one model request and records its outcome: a response or a failure. */
export async function requestModel(
  run: RunContext,
  { closing, notice }: Extract<Action, { type: 'request' }>,
): Promise<void> {
  if (notice !== undefined) await run.record([{ type: 'notice', ...notice }]);
  if (closing !== undefined && run.state.closing === undefined) {
    await run.record([{ type: 'stop_requested', reason: 'limit', limit: closing }]);
  }
  const { agent, budget, runtime, hooks } = run.config;
  const hasHooks = hooks.length > 0;
  const began = runtime.monotonic();
  const request = requestOf(run, closing !== undefined);
  // A closing response is requested after a limit is reached, so it does not count as a turn.
  const settle = closing === undefined ? budget.take('turns', 1) : undefined;
  const inputTokens = () => inputBound(run.state, request);
  let asked: PendingRequest = { agent, request, inputTokens, emit: run.emit };
  let outcome: EventBody[];
  try {
    if (hasHooks) asked = await changedByHooks(run, asked);
    const answered = await askWithin(run, asked);
    const response = hasHooks
      ? await acceptedResponse(run, answered.response, asked.request.tools)
      : answered.response;
    settle?.(1);
    run.lastResponse = response;
    const event = answerEvent(asked.agent, response, answered.price, runtime.monotonic() - began);
    const { shortenedBy } = answered;
    // The limit of the run cut the response off, not a limit of the model.
    const isCut = shortenedBy !== undefined && response.stopReason === 'max_tokens' && closing === undefined;
    outcome = isCut ? [{ type: 'stop_requested', reason: 'limit', limit: shortenedBy }, event] : [event];
  } catch (thrown) {
    settle?.(0);
    outcome = [failureEvent(run, asked.agent, AgentError.from(thrown), runtime.monotonic() - began)];
  }
  const recorded = run.record(outcome);
  if (recorded instanceof Promise) await recorded;
}

function answerEvent(
  { provider }: Agent,
  { message, usage, wasted, stopReason, model, attempts }: ModelResponse,
  price: Price | undefined,
  durationMs: number,
): EventBody {
  return {
    type: 'assistant',
    content: message.content,
    usage,
    stopReason,
    provider,
    model,
    attempts,
    wasted,
    durationMs,
    ...(price !== undefined && { usd: usdOf(usage, price) + usdOf(wasted, price) }),
  };
}

function failureEvent(run: RunContext, agent: Agent, error: AgentError, durationMs: number): EventBody {
  // A conversation that is too long is shortened and sent again, and a hook rejects a whole response.
  const isDropped = error.code === 'context_full' || error.code === 'hook_failed';
  const partial = isDropped ? [] : run.responseSoFar();
  return {
    type: 'ask_failed',
    error: error.toJSON(),
    durationMs,
    ...spentBy(run, agent, error),
    ...(partial.length > 0 && { partial }),
  };
}

async function changedByHooks(run: RunContext, { request, emit }: PendingRequest): Promise<PendingRequest> {
  const changed = await changedRequest(run, request);
  // The count of the last request is not one of these tools and instructions.
  const uncounted = { messages: [...run.state.messages], contextTokens: 0, contextMessages: 0 };
  return { ...changed, inputTokens: () => inputBound(uncounted, changed.request), emit };
}

/** A request, the agent that it goes to and the receiver of its live events. */
export interface PendingRequest {
  readonly agent: Agent;
  readonly request: ModelRequest;
  /** Returns the maximum number of input tokens; called only if something is limited. */
  readonly inputTokens: () => number;
  readonly emit: RunContext['emit'];
}

/** A request that is sent: it fits the budget. */
interface ReadyRequest extends Pick<PendingRequest, 'agent' | 'request' | 'emit'> {
  readonly mayRetry: (wasted: Usage) => boolean;
}

/** A response and its price. */
export interface PricedResponse {
  readonly response: ModelResponse;
  readonly price: Price | undefined;
  /** The limit that left less room for the response than requested. */
  readonly shortenedBy: LimitName | undefined;
}

/**
 * Sends one request within the budget. Its worst case is reserved first, and its actual usage is charged afterwards,
 * even if it fails.
 * @throws AgentError
 */
export async function askWithin(run: RunContext, asked: PendingRequest): Promise<PricedResponse> {
  const { agent } = asked;
  let reservation: Reservation | undefined;
  try {
    const { request, reservation: held, shortenedBy } = reserve(run, asked);
    reservation = held;
    // A failed attempt has a cost too, and the next one may cost the worst case again.
    const mayRetry = (wasted: Usage) => {
      const price = priceOf(run, agent, agent.model, wasted.inputTokens);
      return held.again(tokensOf(wasted), usdOf(wasted, price));
    };
    asked.emit({ type: 'status', state: 'thinking' });
    const response = checkResponse(await answer(run, { agent, request, emit: asked.emit, mayRetry }), agent);
    const { usage, wasted } = response;
    const price = priceOf(run, agent, response.model, usage.inputTokens);
    held.settle(tokensOf(usage) + tokensOf(wasted), usdOf(usage, price) + usdOf(wasted, price));
    // Each call can wait for a user, with a preview of what it would do.
    if (response.message.content.length > maxCalls) checkCalls(response);
    return { response, price, shortenedBy };
  } catch (thrown) {
    const error = AgentError.from(thrown, 'agent', 'bad_answer');
    const { wasted = noUsage } = error;
    const price = priceOf(run, agent, agent.model, wasted.inputTokens);
    reservation?.settle(tokensOf(wasted), usdOf(wasted, price));
    throw error;
  }
}

function requestOf({ state, config }: RunContext, closing: boolean): ModelRequest {
  const { tools, system } = config;
  const output = config.output?.shape;
  return {
    messages: Object.freeze([...state.messages]),
    tools,
    config: closing ? { ...config.request, toolChoice: 'none' } : config.request,
    ...(system !== undefined && { system }),
    ...(output !== undefined && { output }),
  };
}

/**
 * Sends a request and stops waiting for it when the run stops, because an agent may ignore the signal. Once the
 * signal is aborted, the agent has a short time to reject, because its error contains the usage of the request.
 */
function answer(
  run: RunContext,
  { agent, request, emit: show, mayRetry }: ReadyRequest,
): Promise<ModelResponse> {
  return new Promise((resolve, reject) => {
    const message = 'The request was cancelled because the run stopped.';
    const giveUp = () => reject(new AgentError({ kind: 'aborted', code: 'run_stopped', message }));
    if (run.isStopping) return giveUp();
    // Checked for every delta.
    let over = false;
    let cancelGrace: (() => void) | undefined;
    const stopWatching = run.onStop(() => {
      over = true;
      cancelGrace = run.config.runtime.timer(graceMs, giveUp);
    });
    const emit = (event: AgentEvent) => {
      try {
        if (!over) show(event);
      } catch {
        // An agent can emit anything.
      }
    };
    const end = () => {
      over = true;
      cancelGrace?.();
      stopWatching();
    };
    const fail = (error: unknown) => {
      end();
      reject(error);
    };
    try {
      // Starts immediately, because the run may be stopped a moment later.
      const pending = agent.run(request, { signal: run.signal, emit, mayRetry });
      Promise.resolve(pending).then((response) => {
        end();
        resolve(response);
      }, fail);
    } catch (error) {
      fail(error);
    }
  });
}

/**
 * Returns a response that the log can store, with defaults for fields that a custom agent left out.
 * @throws AgentError `agent`, code `bad_answer`, if it has no content or no token counts.
 */
function checkResponse(given: unknown, { model }: Agent): ModelResponse {
  if (isOwnResponse(given)) return given;
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

/** Returns the cost of the attempts of a failed request; absent if nothing was used or the price is unknown. */
function spentBy(run: RunContext, agent: Agent, { wasted = noUsage }: AgentError): { usd?: number } {
  if (isNoUsage(wasted)) return {};
  const price = priceOf(run, agent, agent.model, wasted.inputTokens);
  return price === undefined ? {} : { usd: costOf(wasted, price) };
}

/** Returns the price of the model that responded, or of the requested one; undefined if the pricing throws. */
export function priceOf(
  { config: { pricing } }: RunContext,
  agent: Agent,
  model: string,
  inputTokens?: number,
): Price | undefined {
  try {
    const price =
      pricing(agent.provider, model, inputTokens) ?? pricing(agent.provider, agent.model, inputTokens);
    return price === undefined ? price : read(price, readPrice);
  } catch {
    return undefined;
  }
}

/** A request that fits the budget. */
interface ReservedRequest {
  readonly request: ModelRequest;
  readonly reservation: Reservation;
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
    return { request, reservation: budget.reserve(0, 0) };
  }
  const inputTokens = asked.inputTokens();
  const price = priceOf(run, agent, agent.model, inputTokens);
  if (budget.limitsMoney && price === undefined && !run.config.allowUnpriced) throw unpriced(agent.model);
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
  const outputUsd = usdOf({ inputTokens: 0, outputTokens }, price);
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

function unpriced(model: string): AgentError {
  return new AgentError({
    kind: 'invalid',
    code: 'unpriced',
    message: `The price of ${model} is unknown, so the cost limit cannot be enforced. Provide the price, or allow models whose price is unknown.`,
  });
}

function tokensOf({ inputTokens, outputTokens }: Usage): number {
  return inputTokens + outputTokens;
}

/** Returns the cost of the usage; 0 if the price is unknown. */
function usdOf(usage: Usage, price: Price | undefined): number {
  return price === undefined ? 0 : costOf(usage, price);
}

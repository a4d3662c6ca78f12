import type { AgentEvent, ModelRequest, ModelResponse, StopReason } from './agent.ts';
import { compactionPoint, inputBound } from './context.ts';
import { AgentError } from './errors.ts';
import type { EventBody } from './event.ts';
import { isObject } from './json.ts';
import type { LimitName, Price, Reservation } from './limits.ts';
import { costOf, limitError } from './limits.ts';
import type { Usage } from './usage.ts';
import { noUsage } from './usage.ts';
import { wellFormedAnswer } from './well-formed.ts';
import type { Work } from './work.ts';

/** What an answer may use when nobody said how long it may be. */
const assumedOutput = 32_000;

/** An answer that may use fewer tokens than this is not worth its input. */
const leastOutput = 256;

/** How long an agent that was told to stop may take to say what it used, in milliseconds. */
const graceMs = 50;

/** One model request, and its outcome as an event: an answer, or why there is none. */
export async function ask(work: Work, closing: LimitName | undefined): Promise<void> {
  const place = work.state.answers + 1;
  if (closing !== undefined && work.state.closing === undefined) {
    await work.step(`wind-up:${place}`, () => [{ type: 'stop_requested', reason: 'limit', limit: closing }]);
  }
  await work.step(`ask:${place}`, () => outcome(work, closing !== undefined));
}

async function outcome(work: Work, closing: boolean): Promise<EventBody[]> {
  const began = work.runtime.monotonic();
  const elapsed = () => work.runtime.monotonic() - began;
  let reservation: Reservation | undefined;
  try {
    const { request, shortenedBy, ...held } = reserve(work, requestOf(work, closing));
    reservation = held.reservation;
    work.live({ type: 'status', state: 'thinking' });
    const response = checked(await answer(work, request));
    const price = priceOf(work, response.model, response.usage.inputTokens);
    settle(reservation, [response.usage, response.wasted], price);
    work.answered(response);
    const event = answerEvent(work, response, { durationMs: elapsed(), price });
    // The model was cut short by our limit, not by its own.
    if (shortenedBy === undefined || response.stopReason !== 'max_tokens' || closing) return [event];
    return [{ type: 'stop_requested', reason: 'limit', limit: shortenedBy }, event];
  } catch (thrown) {
    const error = AgentError.from(thrown);
    settle(reservation, [error.wasted ?? noUsage], priceOf(work, work.agent.model, error.wasted?.inputTokens));
    return [{ type: 'ask_failed', error: error.toJSON(), durationMs: elapsed() }];
  }
}

function requestOf(work: Work, closing: boolean): ModelRequest {
  return {
    messages: work.state.messages,
    tools: work.declared,
    config: closing ? { ...work.config, toolChoice: 'none' } : work.config,
    ...(work.system !== undefined && { system: work.system }),
    ...(work.output !== undefined && { output: work.output }),
  };
}

/**
 * An agent that ignores the signal must not hold up the run, so the signal is raced against it. One that
 * heeds it is heard out: its error says what the request has cost.
 */
function answer({ agent, signal, runtime, live }: Work, request: ModelRequest): Promise<ModelResponse> {
  return new Promise((resolve, reject) => {
    const message = 'The request was given up: the run stopped.';
    const giveUp = () => reject(new AgentError({ kind: 'aborted', message }));
    if (signal.aborted) return giveUp();
    let over = false;
    let cancelGrace = () => {};
    const stop = () => {
      cancelGrace = runtime.timer(graceMs, giveUp);
    };
    signal.addEventListener('abort', stop, { once: true });
    const emit = (event: AgentEvent) => {
      if (!over && !signal.aborted) live(event);
    };
    Promise.resolve()
      .then(() => agent.run(request, { signal, emit }))
      .then(resolve, reject)
      .finally(() => {
        over = true;
        cancelGrace();
        signal.removeEventListener('abort', stop);
      });
  });
}

/**
 * An answer as it may enter the log: what a hand-written agent left out is filled in.
 * @throws AgentError `agent`, code `bad_answer`, for one without content or token counts.
 */
function checked(response: ModelResponse): ModelResponse {
  const message: unknown = isObject(response) ? response.message : undefined;
  if (!isObject(message) || !Array.isArray(message['content'])) throw badAnswer('it has no message');
  if (!isCount(response.usage?.inputTokens) || !isCount(response.usage.outputTokens)) {
    throw badAnswer('it does not say how many tokens were used');
  }
  return {
    ...response,
    message: { role: 'assistant', content: wellFormedAnswer(response.message.content) },
    stopReason: stopReasons.has(response.stopReason) ? response.stopReason : 'unknown',
    attempts: response.attempts ?? 1,
    wasted: response.wasted ?? noUsage,
  };
}

const stopReasons: ReadonlySet<string> = new Set<StopReason>([
  'complete',
  'tool_use',
  'max_tokens',
  'refusal',
  'pause',
  'context_full',
]);

function isCount(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && Number.isFinite(value);
}

function badAnswer(what: string): AgentError {
  return new AgentError({
    kind: 'agent',
    code: 'bad_answer',
    message: `The agent gave an answer that cannot be used: ${what}.`,
  });
}

function answerEvent(
  { agent }: Work,
  response: ModelResponse,
  { durationMs, price }: { durationMs: number; price: Price | undefined },
): EventBody {
  const { message, usage, wasted, stopReason, model, attempts } = response;
  return {
    type: 'assistant',
    content: message.content,
    usage,
    stopReason,
    provider: agent.provider,
    model,
    attempts,
    wasted,
    durationMs,
    ...(price !== undefined && { usd: costOf(usage, price) + costOf(wasted, price) }),
  };
}

/** The price of the model that answered, or of the one that was asked. A list that throws knows none. */
function priceOf({ agent, pricing }: Work, model: string, inputTokens?: number): Price | undefined {
  try {
    return (
      pricing(agent.provider, model, inputTokens) ?? pricing(agent.provider, agent.model, inputTokens)
    );
  } catch {
    return undefined;
  }
}

/** A request that the budget can bear. */
interface Reserved {
  readonly request: ModelRequest;
  readonly reservation: Reservation;
  /** The limit for which the answer is given less room than it could have had. */
  readonly shortenedBy?: LimitName;
}

/**
 * Holds back what the request may cost at most. Where a limit leaves less room than an answer may take, the
 * answer is made shorter, so that the limit can be used up and never be passed.
 * @throws AgentError `limit` when the budget has no room, `invalid` when money is limited and the price unknown.
 */
function reserve(work: Work, request: ModelRequest): Reserved {
  const { budget, agent } = work;
  if (budget.tokensLeft === Number.POSITIVE_INFINITY && !budget.limitsMoney) {
    return { request, reservation: budget.reserve(0, 0) };
  }
  const inputTokens = inputBound(work.state, request);
  const price = priceOf(work, agent.model, inputTokens);
  if (budget.limitsMoney && price === undefined && !work.allowUnpriced) throw unpriced(agent.model);
  const input = { inputTokens, outputTokens: 0, cacheWriteTokens: inputTokens };
  const usdLeft = budget.usdLeft - (price === undefined ? 0 : costOf(input, price));
  const wanted = request.config?.maxTokens || assumedOutput;
  const room = { tokens: budget.tokensLeft - inputTokens, usd: affordableTokens(usdLeft, price) };
  const outputTokens = Math.min(wanted, room.tokens, room.usd);
  const limit = room.tokens <= room.usd ? 'tokens' : 'usd';
  if (outputTokens < Math.min(wanted, leastOutput)) {
    throw limitError(limit, `What is left of the limit on ${limit} is not enough for another request.`);
  }
  const usd = price === undefined ? 0 : costOf({ ...input, outputTokens }, price);
  const reservation = budget.reserve(inputTokens + outputTokens, usd);
  if (outputTokens === wanted) return { request, reservation };
  const config = { ...request.config, maxTokens: outputTokens };
  return { request: { ...request, config }, reservation, shortenedBy: limit };
}

function affordableTokens(usd: number, price: Price | undefined): number {
  if (price === undefined || price.output <= 0) return usd >= 0 ? Number.POSITIVE_INFINITY : 0;
  return Math.floor((usd * 1_000_000) / price.output);
}

function unpriced(model: string): AgentError {
  return new AgentError({
    kind: 'invalid',
    code: 'unpriced',
    message: `The price of ${model} is unknown, so the money limit cannot be kept. Give its price, or allow models without one.`,
  });
}

function settle(
  reservation: Reservation | undefined,
  used: readonly Usage[],
  price: Price | undefined,
): void {
  let tokens = 0;
  let usd = 0;
  for (const usage of used) {
    tokens += usage.inputTokens + usage.outputTokens;
    if (price !== undefined) usd += costOf(usage, price);
  }
  reservation?.settle(tokens, usd);
}

/** Replaces older messages by a summary, or fails the run when that is not possible. */
export async function compact(work: Work): Promise<void> {
  await work.step(`compact:${work.state.answers}`, async () => {
    const began = work.runtime.monotonic();
    try {
      const upTo = compactionPoint(work.state.messages, work.context?.keep ?? 6);
      if (work.context === undefined || upTo === 0) throw tooLarge();
      const summary = await work.context.summarize(work.state.messages.slice(0, upTo), {
        signal: work.signal,
      });
      return [{ type: 'compacted', upTo, summary }];
    } catch (thrown) {
      const error = AgentError.from(thrown).toJSON();
      return [{ type: 'ask_failed', error, durationMs: work.runtime.monotonic() - began }];
    }
  });
}

function tooLarge(): AgentError {
  return new AgentError({
    kind: 'invalid',
    code: 'context_full',
    message: 'The conversation is too large and nothing in it is old enough to be summarised.',
  });
}

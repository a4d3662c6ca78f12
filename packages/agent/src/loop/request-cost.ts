import type { State } from '../events/state.ts';
import type { Agent, CacheBreak, ModelRef, ModelResponse, TriedModel } from '../interfaces/agent.ts';
import type { Price } from '../interfaces/limits.ts';
import { costOf, dearestInput } from '../interfaces/limits.ts';
import type { Spending } from '../interfaces/spending.ts';
import { readPrice } from '../run/value-functions.ts';
import { defined } from '../values/defined.ts';
import { read } from '../values/input.ts';
import { timeOf } from '../values/runtime.ts';
import type { Usage } from '../values/usage.ts';
import { isNoUsage, noUsage, subtractUsage } from '../values/usage.ts';
import type { CachedPrefix, RunContext } from './run-context.ts';

/** The tokens of a request and the models that used them. */
export interface RequestSpending {
  /** The model that responded, as the provider names it. Absent: none responded. */
  readonly model?: string;
  readonly usage?: Usage | undefined;
  readonly wasted?: Usage | undefined;
  readonly servedBy?: ModelRef | undefined;
  readonly tried?: readonly TriedModel[] | undefined;
}

/** The cost of a request in US dollars. */
export interface RequestCost {
  /** The cost of the parts whose price is known. */
  readonly known: number;
  /** Undefined if the price of a part is unknown. */
  readonly usd: number | undefined;
  /** The models that were asked first, each with its cost if it is known. */
  readonly tried: readonly TriedModel[] | undefined;
}

/** The cost of a request without prices. */
export const noCost: RequestCost = Object.freeze({ known: 0, usd: undefined, tried: undefined });

/** Returns the cost of a request. The tokens of each model have the price of that model. */
export function requestCost(run: RunContext, agent: ModelRef, spending: RequestSpending): RequestCost {
  const { servedBy = agent, model = servedBy.model, usage } = spending;
  let { wasted = noUsage } = spending;
  let known = 0;
  let isComplete = true;
  const tried = spending.tried?.map((failed) => {
    const { wasted: used = noUsage, skipped } = failed;
    if (skipped === true) return failed;
    if (isNoUsage(used)) return { ...failed, usd: 0 };
    wasted = subtractUsage(wasted, used);
    const price = priceOf(run, failed, failed.model, used.inputTokens);
    if (price === undefined) {
      isComplete = false;
      return { ...failed, unpriced: true };
    }
    const usd = costOf(used, price);
    known += usd;
    return { ...failed, usd };
  });
  if (usage !== undefined || !isNoUsage(wasted)) {
    const price = priceOf(run, servedBy, model, (usage ?? wasted).inputTokens);
    if (price === undefined) isComplete = false;
    else known += (usage === undefined ? 0 : costOf(usage, price)) + costOf(wasted, price);
  }
  return { known, usd: isComplete ? known : undefined, tried };
}

/** Describes a request of a sub-agent for the log of the run that started it. */
export function spendingOf(
  { config: { store, sessionId } }: RunContext,
  { provider, model }: Agent,
  used: RequestSpending & { readonly attempts?: number | undefined },
  { usd, tried }: RequestCost,
): Spending {
  const { usage, wasted = noUsage, attempts = 1, servedBy = { provider, model } } = used;
  const spent = {
    usage: usage ?? noUsage,
    wasted,
    attempts,
    durationMs: 0,
    answers: usage === undefined ? 0 : 1,
    ...defined({ usd, tried }),
  };
  return {
    who: 'agent',
    spent,
    provider: servedBy.provider,
    model: used.model ?? servedBy.model,
    log: { store, sessionId },
  };
}

/** Returns the price of a model, or of the model that was asked for it; undefined if the pricing throws. */
function priceOf(
  { config: { pricing } }: RunContext,
  asked: ModelRef,
  model: string,
  inputTokens?: number,
): Price | undefined {
  try {
    const price =
      pricing(asked.provider, model, inputTokens) ??
      (model === asked.model ? undefined : pricing(asked.provider, asked.model, inputTokens));
    return price === undefined ? price : read(price, readPrice);
  } catch {
    return undefined;
  }
}

/** The highest price that a request can have, and a model whose price is unknown. */
export interface WorstPrice {
  readonly price: Price | undefined;
  readonly unpriced: string | undefined;
}

/** Returns the highest price of the models that a request to the agent may use. */
export function worstPrice(run: RunContext, agent: Agent, inputTokens: number): WorstPrice {
  let worst: Price | undefined;
  let unpriced: string | undefined;
  for (const candidate of agent.candidates ?? [agent]) {
    const price = priceOf(run, candidate, candidate.model, inputTokens);
    if (price === undefined) unpriced ??= candidate.model;
    else worst = worst === undefined ? price : dearer(worst, price);
  }
  return { price: worst, unpriced };
}

/**
 * Returns the maximum cost of the input of a request. What the last response of the run read from the cache or wrote to
 * it is read from there again, unless its lifetime is over; it is not known of the rest.
 */
export function inputCost(
  { config }: RunContext,
  agent: ModelRef,
  tokens: number,
  price: Price,
  cached: CachedPrefix | undefined,
): number {
  const isCached =
    cached !== undefined &&
    cached.model === agent.model &&
    cached.provider === agent.provider &&
    config.runtime.monotonic() - cached.at < cacheLifetimeMs;
  const read = isCached ? Math.min(tokens, cached.tokens) : 0;
  const { input, cacheRead = input } = price;
  return dearestInput(tokens - read, price) + (read * cacheRead) / 1_000_000;
}

/** Returns a report of an agent with its cost: the part that was in the cache is written again. */
export function pricedBreak(run: RunContext, { provider, model }: Agent, event: CacheBreak): CacheBreak {
  const cached = cachedNow(run);
  if (cached === undefined || event.usd !== undefined) return event;
  const tokens = Math.min(event.tokens, cached.tokens);
  const rewritten = { inputTokens: tokens, outputTokens: 0, cacheWriteTokens: tokens };
  const price = priceOf(run, { provider, model }, model, tokens);
  return { ...event, ...defined({ usd: price && lossOf(rewritten, price) }) };
}

/**
 * Reports what a response has not read from the cache, although the previous request had put it there. Undefined if it has, or
 * if this run has sent that request to the same model: the agent then reports its changes itself.
 */
export function missedBy(
  run: RunContext,
  agent: ModelRef,
  { usage, model, servedBy = agent }: ModelResponse,
): CacheBreak | undefined {
  const cached = cachedNow(run);
  const { cacheReadTokens: read, cacheWriteTokens = 0, cacheWriteLongTokens = 0, inputTokens } = usage;
  if (cached === undefined || read === undefined) return undefined;
  // A shorter request, or a model that counts fewer tokens, cannot read more than its input.
  const tokens = Math.min(cached.tokens, inputTokens) - read;
  if (tokens <= 0) return undefined;
  const { provider, model: name } = cached;
  if (run.lastResponse !== undefined && provider === servedBy.provider && name === model) return undefined;
  const written = Math.min(tokens, cacheWriteTokens);
  const again = { inputTokens: tokens, outputTokens: 0, cacheWriteTokens: written, cacheWriteLongTokens };
  const price = priceOf(run, servedBy, model, inputTokens);
  return {
    ...{ type: 'cache_break', layer: read > 0 ? 'history' : 'tools', block: 0, tokens },
    ...defined({ usd: price && lossOf(again, price) }),
    previous: { provider, model: name },
  };
}

/** Returns what the log says is in the cache; undefined if its lifetime may be over, or if the conversation was shortened. */
function cachedNow({ config, state: { cached, contextTokens } }: RunContext): State['cached'] {
  if (cached === undefined || contextTokens === 0) return undefined;
  return config.runtime.now() - timeOf(cached.time) < cacheLifetimeMs ? cached : undefined;
}

/** Returns how much more this input costs than if it was read from the cache. */
function lossOf(input: Usage, price: Price): number {
  const { inputTokens } = input;
  const read = { inputTokens, outputTokens: 0, cacheReadTokens: inputTokens };
  return Math.max(0, costOf(input, price) - costOf(read, price));
}

/** Less than the shortest lifetime of a provider's cache (5 minutes), because the request arrives later. */
const cacheLifetimeMs = 240_000;

/** Returns a price that neither exceeds, whatever the cache serves. */
function dearer(left: Price, right: Price): Price {
  const million = 1_000_000;
  return {
    input: Math.max(dearestInput(million, left), dearestInput(million, right)),
    output: Math.max(left.output, right.output),
  };
}

import type { Agent, ModelRef, TriedModel } from '../interfaces/agent.ts';
import type { Price } from '../interfaces/limits.ts';
import { costOf, dearestInput } from '../interfaces/limits.ts';
import type { Spending } from '../interfaces/spending.ts';
import { readPrice } from '../run/value-functions.ts';
import { defined } from '../values/defined.ts';
import { read } from '../values/input.ts';
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

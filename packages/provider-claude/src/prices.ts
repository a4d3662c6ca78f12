import type { Price, Pricing } from '@cobbler/agent';
import { amount, read, text } from '@cobbler/agent/input';
import { modelId } from './models.ts';

/** The list price of a model in US dollars per million tokens, and its source. */
export interface ClaudeListPrice {
  readonly model: string;
  /** `cacheWrite` is for five minutes, `cacheWriteLong` for one hour. */
  readonly price: Price;
  /** The price of all tokens of a request with more input tokens than this, including cached ones. */
  readonly longPrompt?: { readonly overInputTokens: number; readonly price: Price };
  /** Factor for all prices of the Batch API. */
  readonly batch: number;
  /** The vendor's page, and the latest date on which it is known to have shown every figure of this entry. */
  readonly source: { readonly from: string; readonly on: string };
}

/** Price of one web search: $10 for 1,000. Source: the page about the web search tool. */
const searchPrice = 0.01;

/**
 * List prices of Anthropic. Stored copies of the page and of the model pages (opus-5, opus-5-5 and sonnet-5-5 under
 * platform.claude.com/docs/en/models) show these figures, except for changes after they were stored. Those, and the
 * dates, are from quotations of the page: the release notes of kurofune/claudit 1.9.2 for 2026-10-24, and for Fable 5.2
 * docs.laozhang.ai for 2026-11-10, with the one-hour price from archid21/rightsize 0.10.2.
 */
export const claudePrices: readonly ClaudeListPrice[] = [
  listed('claude-haiku-5-5', '2026-10-24', [0.1, 0.5, 0.01], 100_000),
  listed('claude-sonnet-5-5', '2026-10-24', [2, 10, 0.1]),
  listed('claude-opus-5-5', '2026-10-24', [4, 20, 0.2]),
  listed('claude-fable-5-2', '2026-11-10', [8, 40, 0.2]),
  listed('claude-fable-5-1', '2026-10-24', [10, 50, 0.25]),
  listed('claude-opus-5', '2026-10-24', [5, 25, 0.5]),
  listed('claude-sonnet-5', '2026-10-24', [2, 10, 0.2]),
  listed('claude-haiku-4-5', '2026-10-24', [1, 5, 0.1]),
];

/**
 * Returns the entry of a model. Rules of the same page: cache writes cost 1.25 or 2 times as much as input, a long prompt
 * multiplies all prices by 5, and the Batch API halves them.
 */
function listed(
  model: string,
  on: string,
  [input, output, cacheRead]: readonly [input: number, output: number, cacheRead: number],
  overInputTokens?: number,
): ClaudeListPrice {
  const from = 'https://platform.claude.com/docs/en/about-claude/pricing';
  const price = (times: number): Price => ({
    input: times * input,
    output: times * output,
    cacheRead: times * cacheRead,
    cacheWrite: 1.25 * times * input,
    cacheWriteLong: 2 * times * input,
    search: searchPrice,
  });
  return {
    model,
    price: price(1),
    ...(overInputTokens && { longPrompt: { overInputTokens, price: price(5) } }),
    batch: 0.5,
    source: { from, on },
  };
}

/**
 * Returns the price of a model, by id or alias; undefined if unknown. `inputTokens` is the total input of one
 * request. Without it, a model with two prices has the higher one, so that no limit is exceeded.
 */
export function claudePrice(name: string, inputTokens: number = Number.POSITIVE_INFINITY): Price | undefined {
  // Executors call this for each response, with valid values.
  if (typeof name !== 'string') read(name, text, 'name');
  if (typeof inputTokens !== 'number') read(inputTokens, amount, 'inputTokens');
  const id = modelId(name);
  const listed = claudePrices.find(({ model }) => model === id);
  const long = listed?.longPrompt;
  return long !== undefined && inputTokens > long.overInputTokens ? long.price : listed?.price;
}

/** Provider of the agents that send their requests in batches. */
export const batchProvider = 'claude-batch';

/** Returns {@link claudePrice} as the `pricing` of an executor, reduced for requests in batches. */
export const claudePricing: Pricing = (provider, model, inputTokens) => {
  if (provider === 'claude') return claudePrice(model, inputTokens);
  if (provider !== batchProvider) return undefined;
  const price = claudePrice(model, inputTokens);
  const factor = claudePrices.find((listed) => listed.model === modelId(model))?.batch;
  return price === undefined || factor === undefined ? undefined : multiplied(price, factor);
};

function multiplied(price: Price, factor: number): Price {
  return Object.fromEntries(
    Object.entries(price).map(([kind, usd]) => [kind, kind === 'search' ? usd : usd * factor]),
  ) as unknown as Price;
}

import type { Price, Pricing } from '@cobbler/agent';
import { amount, read, text } from '@cobbler/agent/input';
import { providerName, resolveModel, withoutDate } from './models.ts';

/** The list price of a model in US dollars per million tokens, and its source. */
export interface OpenAIListPrice {
  readonly model: string;
  /** `cacheWrite` is for half an hour, `cacheWriteLong` for twelve hours; absent if unknown. */
  readonly price: Price;
  /** The price of all tokens of a request with more input tokens than this, including cached ones. */
  readonly longPrompt: { readonly overInputTokens: number; readonly price: Price };
  /** Factor for all prices of the Batch API. */
  readonly batch: number;
  /** The vendor's page, and the latest date on which it is known to have shown every figure of this entry. */
  readonly source: { readonly from: string; readonly on: string };
}

/**
 * List prices of OpenAI. Stored copies of the model pages of gpt-6.2-sol, gpt-6.1-terra and gpt-6-luna, which repeat the
 * price page, show these figures. The other figures, and the dates, are from quotations: docs.laozhang.ai and
 * iyulab/TokenMeter 0.17.0 for GPT-6.2, TheKrush/PromptFuel 1.0.23 and 1.0.24 for GPT-6 and GPT-6.1, and
 * prefect12/codex-token-meter 0.2.22 for gpt-6-astra.
 */
export const openAIPrices: readonly OpenAIListPrice[] = [
  listed('gpt-6.2-astra', '2026-11-18', { input: 8, output: 40, cacheRead: 0.4 }),
  listed('gpt-6.2-sol', '2026-11-18', { input: 2, output: 10, cacheRead: 0.1, cacheWriteLong: 5 }),
  listed('gpt-6.1-sol', '2026-10-16', { input: 2, output: 10, cacheRead: 0.1 }),
  listed('gpt-6.1-terra', '2026-10-27', { input: 1, output: 5, cacheRead: 0.05, cacheWriteLong: 2.5 }),
  listed('gpt-6-astra', '2026-09-05', { input: 10, output: 50, cacheRead: 1 }),
  listed('gpt-6-sol', '2026-10-16', { input: 2, output: 10, cacheRead: 0.2 }),
  listed('gpt-6-luna', '2026-10-16', { input: 0.1, output: 0.5, cacheRead: 0.01 }),
];

/**
 * Returns the entry of a model. The same rules apply to all: a cache write costs 1.25 times as much as input, more than
 * 272,000 input tokens double the input and cache prices and multiply the output price by 1.5, for the whole request,
 * and the Batch API costs half. A web search costs $10 for 1,000.
 */
function listed(model: string, on: string, given: Price): OpenAIListPrice {
  const price = { ...given, cacheWrite: 1.25 * given.input };
  const long = Object.entries(price).map(([kind, usd]) => [kind, kind === 'output' ? 1.5 * usd : 2 * usd]);
  const search = 0.01;
  return {
    model,
    price: { ...price, search },
    longPrompt: { overInputTokens: 272_000, price: { ...(Object.fromEntries(long) as Price), search } },
    batch: 0.5,
    source: { from: 'https://developers.openai.com/api/docs/pricing', on },
  };
}

/**
 * Returns the price of a model, by id or alias; `undefined` if unknown. `inputTokens` is the total input of one
 * request. Without it, a model with two prices has the higher one, so that no limit is exceeded.
 */
export function openAIPrice(name: string, inputTokens: number = Number.POSITIVE_INFINITY): Price | undefined {
  // Executors call this for each response, with valid values.
  if (typeof name !== 'string') read(name, text, 'name');
  if (typeof inputTokens !== 'number') read(inputTokens, amount, 'inputTokens');
  const id = withoutDate(resolveModel(name));
  const entry = openAIPrices.find(({ model }) => model === id);
  if (entry === undefined) return undefined;
  return inputTokens > entry.longPrompt.overInputTokens ? entry.longPrompt.price : entry.price;
}

/** Provider of the agents that send their requests in batches. */
export const batchProvider = 'openai-batch';

/** Returns {@link openAIPrice} as the `pricing` of an executor, reduced for requests in batches. */
export const openAIPricing: Pricing = (provider, model, inputTokens) => {
  if (provider === providerName) return openAIPrice(model, inputTokens);
  if (provider !== batchProvider) return undefined;
  const price = openAIPrice(model, inputTokens);
  const factor = openAIPrices.find((entry) => entry.model === withoutDate(resolveModel(model)))?.batch;
  return price === undefined || factor === undefined ? undefined : multiplied(price, factor);
};

function multiplied(price: Price, factor: number): Price {
  return Object.fromEntries(
    Object.entries(price).map(([kind, usd]) => [kind, kind === 'search' ? usd : usd * factor]),
  ) as unknown as Price;
}

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
  /** Factor for all prices of the Batch API, which Cobbler does not use. */
  readonly batch: number;
  /** The vendor's page, and the latest date on which it is known to have shown every figure of this entry. */
  readonly source: { readonly from: string; readonly on: string };
}

/**
 * List prices of Anthropic. Stored copies of the page and of the model pages (opus-5, opus-5-5 and sonnet-5-5 under
 * platform.claude.com/docs/en/models) show these figures, except for changes after they were stored. Those, and the
 * dates, are from quotations of the page: the release notes of kurofune/claudit 1.9.2 for 2026-10-24, and for Fable 5.2
 * docs.laozhang.ai for 2026-11-10, with the one-hour price from archid21/rightsize 0.10.2.
 */
export const claudePrices: readonly ClaudeListPrice[] = [
  listed(
    'claude-haiku-5-5',
    '2026-10-24',
    { input: 0.1, output: 0.5, cacheRead: 0.01, cacheWrite: 0.125, cacheWriteLong: 0.2 },
    {
      overInputTokens: 100_000,
      price: { input: 0.5, output: 2.5, cacheRead: 0.05, cacheWrite: 0.625, cacheWriteLong: 1 },
    },
  ),
  listed('claude-sonnet-5-5', '2026-10-24', {
    input: 2,
    output: 10,
    cacheRead: 0.1,
    cacheWrite: 2.5,
    cacheWriteLong: 4,
  }),
  listed('claude-opus-5-5', '2026-10-24', {
    input: 4,
    output: 20,
    cacheRead: 0.2,
    cacheWrite: 5,
    cacheWriteLong: 8,
  }),
  listed('claude-fable-5-2', '2026-11-10', {
    input: 8,
    output: 40,
    cacheRead: 0.2,
    cacheWrite: 10,
    cacheWriteLong: 16,
  }),
  listed('claude-fable-5-1', '2026-10-24', {
    input: 10,
    output: 50,
    cacheRead: 0.25,
    cacheWrite: 12.5,
    cacheWriteLong: 20,
  }),
  listed('claude-opus-5', '2026-10-24', {
    input: 5,
    output: 25,
    cacheRead: 0.5,
    cacheWrite: 6.25,
    cacheWriteLong: 10,
  }),
  listed('claude-sonnet-5', '2026-10-24', {
    input: 2,
    output: 10,
    cacheRead: 0.2,
    cacheWrite: 2.5,
    cacheWriteLong: 4,
  }),
  listed('claude-haiku-4-5', '2026-10-24', {
    input: 1,
    output: 5,
    cacheRead: 0.1,
    cacheWrite: 1.25,
    cacheWriteLong: 2,
  }),
];

/** Returns the entry of a model. The Batch API halves every price ("Batch processing" on the same page). */
function listed(
  model: string,
  on: string,
  price: Price,
  longPrompt?: ClaudeListPrice['longPrompt'],
): ClaudeListPrice {
  const from = 'https://platform.claude.com/docs/en/about-claude/pricing';
  return { model, price, ...(longPrompt && { longPrompt }), batch: 0.5, source: { from, on } };
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

/** Returns {@link claudePrice} as the `pricing` of an executor. */
export const claudePricing: Pricing = (provider, model, inputTokens) =>
  provider === 'claude' ? claudePrice(model, inputTokens) : undefined;

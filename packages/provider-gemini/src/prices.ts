import type { Price, Pricing } from '@cobbler/agent';
import { read, text } from '@cobbler/agent/input';
import { modelId } from './models.ts';

/** The list price of a model in US dollars per million tokens, and its source. */
export interface GeminiListPrice {
  readonly model: string;
  /** It does not depend on the length of a prompt, and writing to the cache is free. */
  readonly price: Price;
  /** Factor for all prices of the Batch API. */
  readonly batch: number;
  /** The vendor's page, and the latest date on which it is known to have shown every figure of this entry. */
  readonly source: { readonly from: string; readonly on: string };
}

/**
 * List prices of Google. The figures and the dates are from quotations of the page: iyulab/TokenMeter 0.13.1 and 0.17.0,
 * docs.laozhang.ai for Carbon, BerriAI/litellm discussion 39357 for Gemini 3.8 Flash and simstudioai/sim#5812 for Flash-Lite.
 * For models with an introductory price, this is the price after it, so that no limit is exceeded: Argon and Carbon from
 * 2026-12-01, Gemini 3.8 Flash from 2027-01-01.
 */
export const geminiPrices: readonly GeminiListPrice[] = [
  listed('gemini-3.5-flash-lite', '2026-07-21', [0.3, 2.5, 0.03]),
  listed('gemini-4-hydrogen', '2026-11-18', [1.5, 7.5, 0.075]),
  listed('gemini-4-carbon', '2026-11-11', [4, 20, 0.2]),
  listed('gemini-4-neon', '2026-11-18', [3, 15, 0.15]),
  listed('gemini-4-argon', '2026-10-13', [4, 20, 0.2]),
  listed('gemini-3.8-flash', '2026-09-02', [1.5, 7.5, 0.15]),
];

function listed(
  model: string,
  on: string,
  [input, output, cacheRead]: readonly [input: number, output: number, cacheRead: number],
): GeminiListPrice {
  const from = 'https://ai.google.dev/gemini-api/docs/pricing';
  return { model, price: { input, output, cacheRead, cacheWrite: input }, batch: 0.5, source: { from, on } };
}

/** Returns the price of a model, by id or alias; `undefined` if unknown. */
export function geminiPrice(name: string): Price | undefined {
  // Executors call this for each response, with valid values.
  if (typeof name !== 'string') read(name, text, 'name');
  const id = modelId(name);
  return geminiPrices.find(({ model }) => model === id)?.price;
}

/** Returns {@link geminiPrice} as the `pricing` of an executor. */
export const geminiPricing: Pricing = (provider, model) =>
  provider === 'gemini' ? geminiPrice(model) : undefined;

import type { Price, Pricing } from '@cobbler/agent';
import { amount, read, text } from '@cobbler/agent/input';

/** Facts about a model. An absent field is unknown, never zero. */
export interface ClaudeModel {
  readonly id: string;
  /** The alias of this model, if any. */
  readonly alias?: 'fast' | 'balanced' | 'best';
  /** Size of the context window in tokens. */
  readonly contextTokens?: number;
  /** Maximum number of tokens of one response. */
  readonly maxOutputTokens?: number;
  /** US dollars per million tokens; `cacheWrite` is for five minutes, `cacheWriteLong` for one hour. */
  readonly price?: Price;
  /** The price of all tokens of a request with more input tokens than this, including cached ones. */
  readonly longPrompt?: { readonly overInputTokens: number; readonly price: Price };
}

/** The default model. */
export const defaultModel = 'balanced';

/** Source of the prices and the date when they were read. */
export const claudePriceSource: { readonly from: string; readonly on: string } = {
  from: 'https://platform.claude.com/docs/en/about-claude/pricing',
  on: '2026-11-21',
};

/**
 * Models of the Messages API in SDK 1.11.0, read on 2026-11-21. Sizes and prices are from the model pages under
 * platform.claude.com/docs/en/models (haiku-5-5, opus-5-5, sonnet-5-5) and {@link claudePriceSource}. Where a stored
 * copy of those pages predates a price change, prices are from the tables of @pydantic/genai-prices 0.1.8 and the
 * release notes of kurofune/claudit 1.8.2 and 1.9.2, which were read from the same page later. Since 2026-10-07,
 * Sonnet 5.5 reads its cache at half the earlier price. Haiku 5.5 has two prices, depending on prompt length.
 */
export const claudeModels: readonly ClaudeModel[] = [
  {
    id: 'claude-haiku-5-5',
    alias: 'fast',
    contextTokens: 1_000_000,
    maxOutputTokens: 128_000,
    price: { input: 0.1, output: 0.5, cacheRead: 0.01, cacheWrite: 0.125, cacheWriteLong: 0.2 },
    longPrompt: {
      overInputTokens: 100_000,
      price: { input: 0.5, output: 2.5, cacheRead: 0.05, cacheWrite: 0.625, cacheWriteLong: 1 },
    },
  },
  {
    id: 'claude-sonnet-5-5',
    alias: 'balanced',
    contextTokens: 1_000_000,
    maxOutputTokens: 128_000,
    price: { input: 2, output: 10, cacheRead: 0.1, cacheWrite: 2.5, cacheWriteLong: 4 },
  },
  {
    id: 'claude-opus-5-5',
    alias: 'best',
    contextTokens: 1_000_000,
    maxOutputTokens: 128_000,
    price: { input: 4, output: 20, cacheRead: 0.2, cacheWrite: 5, cacheWriteLong: 8 },
  },
  {
    id: 'claude-fable-5-1',
    contextTokens: 1_000_000,
    maxOutputTokens: 128_000,
    price: { input: 10, output: 50, cacheRead: 0.25, cacheWrite: 12.5, cacheWriteLong: 20 },
  },
  { id: 'claude-fable-5-2' },
  {
    id: 'claude-opus-5',
    contextTokens: 1_000_000,
    maxOutputTokens: 128_000,
    price: { input: 5, output: 25, cacheRead: 0.5, cacheWrite: 6.25, cacheWriteLong: 10 },
  },
  {
    id: 'claude-sonnet-5',
    contextTokens: 1_000_000,
    maxOutputTokens: 128_000,
    price: { input: 2, output: 10, cacheRead: 0.2, cacheWrite: 2.5, cacheWriteLong: 4 },
  },
  {
    id: 'claude-haiku-4-5',
    contextTokens: 200_000,
    maxOutputTokens: 64_000,
    price: { input: 1, output: 5, cacheRead: 0.1, cacheWrite: 1.25, cacheWriteLong: 2 },
  },
];

/** Returns the id for an alias; any other name is already an id. */
export function modelId(name: string): string {
  return claudeModels.find((model) => model.alias === name)?.id ?? name;
}

/** Returns the facts about a model, by id. */
export function claudeModel(id: string): ClaudeModel | undefined {
  return claudeModels.find((model) => model.id === id);
}

/**
 * Returns the price of a model, by id or alias; undefined if unknown. `inputTokens` is the total input of one
 * request. Without it, a model with two prices has the higher one, so that no limit is exceeded.
 */
export function claudePrice(name: string, inputTokens: number = Number.POSITIVE_INFINITY): Price | undefined {
  // Executors call this for each response, with valid values.
  if (typeof name !== 'string') read(name, text, 'name');
  if (typeof inputTokens !== 'number') read(inputTokens, amount, 'inputTokens');
  const model = claudeModel(modelId(name));
  const long = model?.longPrompt;
  return long !== undefined && inputTokens > long.overInputTokens ? long.price : model?.price;
}

/** Returns {@link claudePrice} as the `pricing` of an executor. */
export const claudePricing: Pricing = (provider, model, inputTokens) =>
  provider === 'claude' ? claudePrice(model, inputTokens) : undefined;

/** The thinking mode of a model, derived from its name. */
export interface ThinkingTraits {
  /** Accepts `thinking.type: adaptive` and `output_config.effort`: version 4.6 and later. */
  readonly adaptive: boolean;
  /** Ties each thinking block to all content before it: version 5.1 and later. */
  readonly binding: boolean;
}

/**
 * Derives the thinking traits from the version in the name, so that a later model is treated like the latest known
 * one. Sources: "Troubleshooting thinking" (adaptive) and "Prefix checks on thinking blocks" (binding) under
 * platform.claude.com/docs/en/build-with-claude.
 */
export function thinkingTraits(id: string): ThinkingTraits {
  const match = /^claude-[a-z]+-(\d{1,2})(?:-(\d{1,2}))?(?:-\d{8})?$/.exec(id);
  if (match === null) return { adaptive: false, binding: false };
  const version = Number(match[1]) * 100 + Number(match[2] ?? 0);
  return { adaptive: version >= 406, binding: version >= 501 };
}

import type { Pricing } from '@cobbler/agent';
import type { AgentFactory } from '@cobbler/agent/provider';
import { cleanKey } from '@cobbler/agent/provider';
import { defined } from '@cobbler/agent/values';
import type { ClaudeListPrice } from '@cobbler/provider-claude';
import type { OpenAIListPrice } from '@cobbler/provider-openai';
import type { Environment } from '../terminal/io.ts';
import { didYouMean } from '../terminal/suggestion.ts';
import { UsageError } from '../terminal/usage-error.ts';

/** The OpenAI API to use; other providers have only one. */
export type Api = 'responses' | 'chat';

/** A model for a list. */
export interface KnownModel {
  readonly id: string;
  readonly alias?: string;
  readonly contextTokens?: number;
}

/** The list price of a model, with its source. */
export type ListPrice = ClaudeListPrice | OpenAIListPrice;

/** A loaded provider. */
export interface LoadedProvider {
  readonly create: AgentFactory;
  readonly pricing: Pricing;
  readonly models: readonly KnownModel[];
  readonly prices: readonly ListPrice[];
}

/** The facts about a provider that are known without loading it. */
export interface ProviderEntry {
  /** Name for display. */
  readonly title: string;
  readonly keyVariable: string;
  /** A variable that is read if {@link keyVariable} is not set. */
  readonly otherKeyVariable?: string;
  readonly addressVariable: string;
  /** The default address. */
  readonly address: string;
  /** Matches the names of its models, to determine the provider of a model. */
  readonly ownModels: RegExp;
  load(api?: Api): Promise<LoadedProvider>;
}

/** All providers by name. Loading one takes longer than everything else at start, so each is loaded only when needed. */
export const providers: Readonly<Record<'claude' | 'openai' | 'gemini', ProviderEntry>> = {
  claude: {
    title: 'Claude',
    keyVariable: 'ANTHROPIC_API_KEY',
    addressVariable: 'ANTHROPIC_BASE_URL',
    address: 'https://api.anthropic.com',
    ownModels: /^claude-/,
    load: () => import('./claude.ts'),
  },
  openai: {
    title: 'OpenAI',
    keyVariable: 'OPENAI_API_KEY',
    addressVariable: 'OPENAI_BASE_URL',
    address: 'https://api.openai.com/v1',
    ownModels: /^(gpt-|chatgpt-|o\d|codex-|ft:)/,
    async load(api) {
      const { createOpenAI, modelAliases, openAIPrices, openAIPricing } = await import(
        '@cobbler/provider-openai'
      );
      const aliases = Object.entries(modelAliases);
      return {
        create: (config) => createOpenAI({ ...config, ...defined({ api }) }),
        pricing: openAIPricing,
        prices: openAIPrices,
        models: openAIPrices.map(({ model: id }) => {
          const alias = aliases.find(([, model]) => model === id)?.[0];
          return { id, ...defined({ alias }) };
        }),
      };
    },
  },
  gemini: {
    title: 'Gemini',
    keyVariable: 'GEMINI_API_KEY',
    otherKeyVariable: 'GOOGLE_API_KEY',
    addressVariable: 'GOOGLE_GEMINI_BASE_URL',
    address: 'https://generativelanguage.googleapis.com',
    ownModels: /^(gemini|gemma)-/,
    async load() {
      const { createGemini, geminiModels, geminiPrices, geminiPricing } = await import(
        '@cobbler/provider-gemini'
      );
      return { create: createGemini, pricing: geminiPricing, prices: geminiPrices, models: geminiModels };
    },
  },
};

/** Returns the name of the variable that contains a provider's key, of those that it reads; undefined if none does. */
export function keyVariableIn(env: Environment, provider: string): string | undefined {
  const { keyVariable, otherKeyVariable } = providerEntry(provider);
  return [keyVariable, otherKeyVariable].find((name) => name && cleanKey(env[name]) !== undefined);
}

/** The provider names, the default one first. */
export const providerNames: readonly string[] = Object.keys(providers);

/** Returns the provider with this name. @throws UsageError with the known names. */
export function providerEntry(name: string): ProviderEntry {
  const entry = Object.hasOwn(providers, name) ? providers[name as keyof typeof providers] : undefined;
  if (entry !== undefined) return entry;
  throw new UsageError(
    `Unknown provider ${JSON.stringify(name)}.${didYouMean(name, providerNames)}`,
    `Known: ${providerNames.join(', ')}. For a server with an OpenAI-compatible API: -m openai:MODEL --base-url URL`,
  );
}

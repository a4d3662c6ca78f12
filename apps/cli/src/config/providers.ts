import type { Price, Pricing } from '@cobbler/agent';
import type { AgentFactory } from '@cobbler/agent/provider';
import { defined } from '@cobbler/agent/values';
import { didYouMean } from '../terminal/suggestion.ts';
import { UsageError } from '../terminal/usage-error.ts';

/** Which of OpenAI's two APIs is spoken; other providers have one. */
export type Api = 'responses' | 'chat';

/** A model that can be named, for a list. */
export interface KnownModel {
  readonly id: string;
  readonly alias?: string;
  readonly contextTokens?: number;
  readonly price?: Price;
}

/** A provider, loaded. */
export interface LoadedProvider {
  readonly create: AgentFactory;
  readonly pricing: Pricing;
  readonly models: readonly KnownModel[];
  /** Where the prices of `models` stand and when they were read. */
  readonly priceSource: { readonly from: string; readonly on: string };
}

/** A provider, as far as it is known without loading it. */
export interface ProviderEntry {
  /** Name for people. */
  readonly title: string;
  /** The variable that its key is looked up in. */
  readonly keyVariable: string;
  /** The variable that its address is looked up in. */
  readonly addressVariable: string;
  /** Where requests go without another address. */
  readonly address: string;
  /** Names of its models, to tell from a model alone which provider is meant. */
  readonly ownModels: RegExp;
  load(api?: Api): Promise<LoadedProvider>;
}

/** All providers by name. Loading one takes longer than all else at start, so each is loaded when needed. */
export const providers: Readonly<Record<'claude' | 'openai', ProviderEntry>> = {
  claude: {
    title: 'Claude',
    keyVariable: 'ANTHROPIC_API_KEY',
    addressVariable: 'ANTHROPIC_BASE_URL',
    address: 'https://api.anthropic.com',
    ownModels: /^claude-/,
    async load() {
      const { createClaude, claudeModels, claudePricing, claudePriceSource } = await import(
        '@cobbler/provider-claude'
      );
      return {
        create: createClaude,
        pricing: claudePricing,
        models: claudeModels,
        priceSource: claudePriceSource,
      };
    },
  },
  openai: {
    title: 'OpenAI',
    keyVariable: 'OPENAI_API_KEY',
    addressVariable: 'OPENAI_BASE_URL',
    address: 'https://api.openai.com/v1',
    ownModels: /^(gpt-|chatgpt-|o\d|codex-|ft:)/,
    async load(api) {
      const { createOpenAI, modelAliases, openAIPrice, openAIPriceSource, openAIPricing } = await import(
        '@cobbler/provider-openai'
      );
      return {
        create: (config) => createOpenAI({ ...config, ...defined({ api }) }),
        pricing: openAIPricing,
        priceSource: openAIPriceSource,
        models: Object.entries(modelAliases).map(([alias, id]) => {
          const price = openAIPrice(id, 0);
          return { id, alias, ...defined({ price }) };
        }),
      };
    },
  },
};

/** The provider names, the default one first. */
export const providerNames: readonly string[] = Object.keys(providers);

/**
 * The provider of this name.
 * @throws UsageError naming those that are known.
 */
export function providerEntry(name: string): ProviderEntry {
  const entry = Object.hasOwn(providers, name) ? providers[name as keyof typeof providers] : undefined;
  if (entry !== undefined) return entry;
  throw new UsageError(
    `Unknown provider ${JSON.stringify(name)}.${didYouMean(name, providerNames)}`,
    `Known: ${providerNames.join(', ')}. A server with an OpenAI-compatible API: -m openai:MODEL --base-url URL`,
  );
}

import type { Price, Pricing } from '@cobbler/agent';
import { defined } from '@cobbler/agent/values';

/** Where prices come from, nearest first. */
export interface PriceSources {
  /** From the configuration, by model id or alias. */
  readonly own: Readonly<Record<string, Price>>;
  /** The models behind the provider's aliases. */
  readonly aliases?: readonly { readonly id: string; readonly alias?: string }[];
  /** The providers' tables. */
  readonly tables: readonly Pricing[];
  /** Where requests go, when that is not the provider's own address. */
  readonly baseURL?: string;
}

/** The names that the general price list has for our providers. */
const listed: Readonly<Record<string, string>> = { claude: 'anthropic', openai: 'openai' };

/**
 * Prices for one run. The general list is large and read only when no closer source knows the model. An unknown model
 * has no price, which is different from being free.
 */
export async function pricingFor(sources: PriceSources, provider: string, model: string): Promise<Pricing> {
  const known: Pricing = (name, id, inputTokens) => {
    const own = ownPrice(sources, id);
    if (own !== undefined) return own;
    for (const table of sources.tables) {
      const price = table(name, id, inputTokens);
      if (price !== undefined) return price;
    }
    return undefined;
  };
  if (known(provider, model) !== undefined) return known;
  const general = await generalPricing(provider, model, sources.baseURL);
  return (name, id, inputTokens) =>
    known(name, id, inputTokens) ?? (name === provider ? general?.(inputTokens) : undefined);
}

/** A price by model id, or by the alias that stands for it. A service may name a model with the day of its release. */
function ownPrice({ own, aliases = [] }: PriceSources, id: string): Price | undefined {
  const undated = id.replace(/-\d{4}-?\d{2}-?\d{2}$/, '');
  const alias = aliases.find((model) => model.id === undated)?.alias ?? undated;
  const name = [id, undated, alias].find((known) => Object.hasOwn(own, known));
  return name === undefined ? undefined : own[name];
}

/** A price by the length of the request; no length means one that is not known yet. */
type PriceByLength = (inputTokens: number | undefined) => Price | undefined;

async function generalPricing(
  provider: string,
  model: string,
  baseURL: string | undefined,
): Promise<PriceByLength | undefined> {
  const { calcPrice } = await import('@pydantic/genai-prices');
  const where =
    baseURL === undefined ? { providerId: listed[provider] ?? provider } : { providerApiUrl: baseURL };
  const prices = calcPrice({ input_tokens: 1, output_tokens: 1 }, model, where)?.model_price;
  if (prices === undefined) return undefined;
  return (inputTokens = Number.POSITIVE_INFINITY) => {
    const at = (kind: string) => tierOf(prices[kind], inputTokens);
    const [input, output] = [at('input_mtok'), at('output_mtok')];
    const [cacheRead, cacheWrite] = [at('cache_read_mtok'), at('cache_write_mtok')];
    if (input === undefined || output === undefined) return undefined;
    return {
      input,
      output,
      ...defined({ cacheRead, cacheWrite }),
      // The list does not know the hour that Claude can keep a prompt for, at twice the price of input.
      ...(provider === 'claude' && { cacheWriteLong: 2 * input }),
    };
  };
}

interface Tiered {
  readonly base: number;
  readonly tiers: readonly { readonly start: number; readonly price: number }[];
}

/** The whole request has the price of the tier that its input reaches. */
function tierOf(price: number | undefined | Tiered, inputTokens: number): number | undefined {
  if (price === undefined || typeof price === 'number') return price;
  let reached = { start: -1, price: price.base };
  for (const tier of price.tiers) if (inputTokens > tier.start && tier.start > reached.start) reached = tier;
  return reached.price;
}

import type { Price, Pricing } from '@cobbler/agent';

/** Where prices come from, nearest first. */
export interface PriceSources {
  /** From the configuration, by model id. */
  readonly own: Readonly<Record<string, Price>>;
  /** The providers' tables. */
  readonly tables: readonly Pricing[];
  /** Where requests go, when that is not the provider's own address. */
  readonly baseURL?: string;
}

/** The names that the general price list has for our providers. */
const listed: Readonly<Record<string, string>> = { claude: 'anthropic', openai: 'openai' };

/**
 * Prices for one run. The general list is large and read only when nothing nearer knows the model. A model
 * that nobody knows has no price, which is not the same as being free.
 */
export async function pricingFor(sources: PriceSources, provider: string, model: string): Promise<Pricing> {
  const known: Pricing = (name, id, inputTokens) => {
    if (Object.hasOwn(sources.own, id)) return sources.own[id];
    for (const table of sources.tables) {
      const price = table(name, id, inputTokens);
      if (price !== undefined) return price;
    }
    return undefined;
  };
  if (known(provider, model) !== undefined) return known;
  const general = await generalPrice(provider, model, sources.baseURL);
  return (name, id, inputTokens) => known(name, id, inputTokens) ?? (name === provider ? general : undefined);
}

async function generalPrice(provider: string, model: string, baseURL?: string): Promise<Price | undefined> {
  const { calcPrice } = await import('@pydantic/genai-prices');
  const where =
    baseURL === undefined ? { providerId: listed[provider] ?? provider } : { providerApiUrl: baseURL };
  const found = calcPrice({ input_tokens: 1, output_tokens: 1 }, model, where);
  if (found === null) return undefined;
  const prices = found.model_price;
  const input = dearest(prices['input_mtok']);
  const output = dearest(prices['output_mtok']);
  const cacheRead = dearest(prices['cache_read_mtok']);
  const cacheWrite = dearest(prices['cache_write_mtok']);
  if (input === undefined || output === undefined) return undefined;
  return {
    input,
    output,
    ...(cacheRead !== undefined && { cacheRead }),
    ...(cacheWrite !== undefined && { cacheWrite }),
  };
}

/** A price with tiers counts as its highest: a money limit must not be overrun by a long prompt. */
function dearest(
  price:
    | number
    | undefined
    | { readonly base: number; readonly tiers: readonly { readonly price: number }[] },
): number | undefined {
  if (price === undefined || typeof price === 'number') return price;
  return Math.max(price.base, ...price.tiers.map((tier) => tier.price));
}

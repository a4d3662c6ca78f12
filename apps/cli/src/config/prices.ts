import type { Price, Pricing } from '@cobbler/agent';
import type { ConfigPrice } from '@cobbler/agent/node';
import { defined } from '@cobbler/agent/values';

/** Sources of prices, in order of precedence. */
export interface PriceSources {
  /** Prices from the configuration, by model id or alias, alone or after the provider's name and a slash. */
  readonly own: Readonly<Record<string, ConfigPrice>>;
  /** The models that the provider's aliases stand for. */
  readonly aliases?: readonly { readonly id: string; readonly alias?: string }[];
  readonly tables: readonly Pricing[];
  /** The base URL, if it is not the provider's own. */
  readonly baseURL?: string;
}

/** Names of our providers in the general price list. */
const listed: Readonly<Record<string, string>> = {
  claude: 'anthropic',
  openai: 'openai',
  gemini: 'google',
};

/** Returns the prices for one run. The large general list is read last. A model without a price is unknown, not free. */
export async function pricingFor(sources: PriceSources, provider: string, model: string): Promise<Pricing> {
  const known: Pricing = (name, id, inputTokens) => {
    const own = ownPrice(sources, name, id, inputTokens);
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

/** Returns the price in the configuration; without a length, a model with two prices has the higher one. */
export function ownPrice(
  sources: Pick<PriceSources, 'own' | 'aliases'>,
  provider: string,
  id: string,
  inputTokens: number = Number.POSITIVE_INFINITY,
): Price | undefined {
  const name = configuredName(sources, provider, id);
  if (name === undefined) return undefined;
  const { longPrompt, ...price } = sources.own[name] as ConfigPrice;
  return longPrompt !== undefined && inputTokens > longPrompt.overInputTokens ? longPrompt.price : price;
}

/** Returns the name of a model in the configuration. A service may append the release date to a model name. */
export function configuredName(
  { own, aliases = [] }: Pick<PriceSources, 'own' | 'aliases'>,
  provider: string,
  id: string,
): string | undefined {
  const undated = id.replace(/-\d{4}-?\d{2}-?\d{2}$/, '');
  const alias = aliases.find((model) => model.id === undated)?.alias ?? undated;
  const names = [id, undated, alias].flatMap((name) => [`${provider}/${name}`, name]);
  return names.find((name) => Object.hasOwn(own, name));
}

/** Returns the price for a request of this length; undefined if the length is not known yet. */
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
      // The list omits the one-hour cache of Claude, which costs twice the input price.
      ...(provider === 'claude' && { cacheWriteLong: 2 * input }),
    };
  };
}

interface TieredPrice {
  readonly base: number;
  readonly tiers: readonly { readonly start: number; readonly price: number }[];
}

/** Returns the price of the tier that the input reaches; it applies to the whole request. */
function tierOf(price: number | undefined | TieredPrice, inputTokens: number): number | undefined {
  if (price === undefined || typeof price === 'number') return price;
  let reached = { start: -1, price: price.base };
  for (const tier of price.tiers) if (inputTokens > tier.start && tier.start > reached.start) reached = tier;
  return reached.price;
}

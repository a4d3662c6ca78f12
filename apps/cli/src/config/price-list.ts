import type { Price } from '@cobbler/agent';
import type { ConfigPrice } from '@cobbler/agent/node';
import { defined } from '@cobbler/agent/values';
import { padEnd } from '../terminal/text-width.ts';
import { configuredName } from './prices.ts';
import type { ListPrice } from './providers.ts';
import { providers } from './providers.ts';
import type { Settings } from './settings.ts';
import { fromFile } from './settings.ts';

const kinds = ['input', 'output', 'cacheRead', 'cacheWrite', 'cacheWriteLong'] as const;

/** US dollars per million tokens; null if unknown. */
type KnownPrice = Readonly<Record<(typeof kinds)[number], number | null>>;

/** The prices of a model as `cobbler models --prices` shows them. */
export interface PriceRow {
  /** Absent for a price in the configuration that applies to every provider. */
  readonly provider?: string;
  readonly model: string;
  readonly alias?: string;
  readonly price: KnownPrice;
  /** The price of a whole request with more input tokens than this. */
  readonly longPrompt?: { readonly overInputTokens: number; readonly price: KnownPrice };
  readonly batch?: number;
  /** The vendor's page and the date when it showed the price, or the place in the configuration; null if unknown. */
  readonly source: { readonly from: string; readonly on?: string } | null;
}

/** All known prices. */
export interface PriceList {
  readonly unit: string;
  /** The age of the oldest built-in price. */
  readonly oldest: { readonly on: string; readonly days: number };
  readonly prices: readonly PriceRow[];
}

/** Returns the prices of all listed models, replaced by those of the configuration, and the others in it. */
export async function priceList({ file }: Pick<Settings, 'file'>, now: number): Promise<PriceList> {
  const own = file.values.prices ?? {};
  const from = fromFile(file, file.values, 'prices')?.source ?? '';
  const ownPrices = (name: string) => {
    const { longPrompt, ...price } = own[name] as ConfigPrice;
    return pricesOf({ price, ...defined({ longPrompt }), source: { from } });
  };
  const rows: PriceRow[] = [];
  const used = new Set<string>();
  const dates: string[] = [];
  for (const [provider, { load }] of Object.entries(providers)) {
    const { models, prices } = await load();
    for (const { id: model, alias } of models) {
      const name = configuredName({ own, aliases: models }, provider, model);
      const listed = pricesOf(prices.find((entry) => entry.model === model));
      rows.push({
        provider,
        model,
        ...defined({ alias }),
        ...(name === undefined ? listed : ownPrices(name)),
      });
      if (name !== undefined) used.add(name);
    }
    dates.push(...prices.map(({ source }) => source.on));
  }
  const others = Object.keys(own).filter((name) => !used.has(name));
  rows.push(...others.map((model) => ({ model, ...ownPrices(model) })));
  const [on = ''] = dates.sort();
  const days = Math.max(0, Math.floor((now - Date.parse(on)) / 86_400_000));
  return { unit: 'US dollars per million tokens', oldest: { on, days }, prices: rows };
}

type Prices = Omit<PriceRow, 'provider' | 'model' | 'alias'>;

function pricesOf(entry: Partial<Omit<ListPrice, 'source'> & Pick<PriceRow, 'source'>> = {}): Prices {
  const { price, longPrompt, batch, source = null } = entry;
  return {
    price: knownPrice(price),
    ...(longPrompt && { longPrompt: { ...longPrompt, price: knownPrice(longPrompt.price) } }),
    ...defined({ batch }),
    source,
  };
}

function knownPrice(price: Price | undefined): KnownPrice {
  return Object.fromEntries(kinds.map((kind) => [kind, price?.[kind] ?? null])) as KnownPrice;
}

const titles = ['input', 'output', 'read', 'write', 'long write'];
const modelWidth = 24;
const priceWidth = 11;

/** Returns the list as lines of at most 100 columns, unless a model has a longer name. */
export function priceTable({ unit, oldest, prices }: PriceList): string[] {
  const groups = Map.groupBy(prices, ({ provider }) => provider ?? 'configuration');
  const head = `${titles.map((title) => title.padStart(priceWidth)).join('')}  batch  as of`;
  const lines = [...groups].flatMap(([provider, rows]) => [
    padEnd(provider, modelWidth) + head,
    ...rows.flatMap(rowLines),
    ...new Set(rows.flatMap(({ source }) => (source === null ? [] : [`  from ${source.from}`]))),
    '',
  ]);
  return [
    ...lines,
    `Prices are in ${unit}. The read and write prices are for the prompt cache.`,
    `The oldest built-in price is ${oldest.days} days old (${oldest.on}).`,
    'Set newer prices under "prices" in the configuration. See docs/limits.md.',
  ];
}

function rowLines({ model, price, longPrompt, batch, source }: PriceRow): string[] {
  const factor = batch === undefined ? '' : `x${batch}`;
  const date = source === null ? 'unknown' : (source.on ?? 'config');
  return [
    `${padEnd(`  ${model}`, modelWidth)}${priceCells(price)}  ${factor.padStart(5)}  ${date}`,
    ...(longPrompt === undefined
      ? []
      : [
          `${padEnd(`    over ${longPrompt.overInputTokens.toLocaleString('en-US')} in`, modelWidth)}${priceCells(longPrompt.price)}`,
        ]),
  ];
}

function priceCells(price: KnownPrice): string {
  return kinds.map((kind) => usdText(price[kind]).padStart(priceWidth)).join('');
}

/** Returns an amount with at least two decimals. */
function usdText(usd: number | null): string {
  if (usd === null) return 'unknown';
  const text = usd.toFixed(2);
  return Number(text) === usd ? text : String(usd);
}

import type { CostRow } from '@cobbler/agent/store';
import { totalCosts } from '@cobbler/agent/store';
import { formatUsd } from '../terminal/format.ts';

/** The costs to expect at the end of the month. */
export interface Forecast {
  /** US dollars of this month until now, plus the rest of the month at the pace of the period. */
  readonly usd: number;
  /** True if requests without a price make the cost larger. */
  readonly isMinimum: boolean;
  /** The first moment of the next month, in milliseconds since 1970. */
  readonly until: number;
}

const dayMs = 86_400_000;

/** The data of a forecast. Times are in milliseconds since 1970. */
export interface ForecastData {
  /** The costs of the period whose pace continues. */
  readonly period: readonly CostRow[];
  /** Start of the period. */
  readonly since: number;
  /** The costs of at least the last 31 days, by local date. */
  readonly days: readonly CostRow[];
  readonly now: number;
}

/** Returns the forecast; undefined if the period has less than a day of data or cost nothing. */
export function forecastOf({ period, since, days, now }: ForecastData): Forecast | undefined {
  const start = Math.max(since, Math.min(...period.map(({ first }) => first)));
  const { usd, unpriced } = totalCosts(period);
  if (!(now - start >= dayMs) || usd === 0) return undefined;
  const date = new Date(now);
  const until = new Date(date.getFullYear(), date.getMonth() + 1, 1).getTime();
  const month = `${date.getFullYear()}-${String(date.getMonth() + 1).padStart(2, '0')}`;
  const soFar = totalCosts(days.filter(({ key }) => key?.startsWith(month)));
  return {
    usd: soFar.usd + (usd / (now - start)) * (until - now),
    isMinimum: unpriced > 0 || soFar.unpriced > 0,
    until,
  };
}

/** Returns the forecast as a sentence. */
export function forecastText({ usd, isMinimum, until }: Forecast): string {
  const amount = usd < 10 ? formatUsd(usd) : `$${Math.round(usd).toLocaleString('en-US')}`;
  const month = new Date(until - 1).toLocaleString('en-US', { month: 'long' });
  return `At this pace: ${isMinimum ? 'at least ' : ''}${amount} by the end of ${month}.`;
}

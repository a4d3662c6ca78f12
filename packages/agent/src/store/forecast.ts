import { withArgumentErrors } from '../values/errors.ts';
import type { CostTotals } from './cost-totals.ts';
import { totalCosts } from './cost-totals.ts';
import type { CostRow } from './costs.ts';

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
  /** The costs of this month until now. */
  readonly month: readonly CostTotals[];
  readonly now: number;
  /** The first moment of the next month. */
  readonly until: number;
}

/** Returns the forecast; undefined if the period has less than a day of data or cost nothing. */
export function forecastOf(data: ForecastData): Forecast | undefined {
  return withArgumentErrors('forecastOf', () => {
    const { period, since, month, now, until } = data;
    const start = Math.max(since, Math.min(...period.map(({ first }) => first)));
    const { usd, unpriced } = totalCosts(period);
    if (!(now - start >= dayMs) || usd === 0) return undefined;
    const soFar = totalCosts(month);
    return {
      usd: soFar.usd + (usd / (now - start)) * (until - now),
      isMinimum: unpriced > 0 || soFar.unpriced > 0,
      until,
    };
  });
}

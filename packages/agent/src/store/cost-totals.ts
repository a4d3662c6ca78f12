import { withArgumentErrors } from '../values/errors.ts';

/** The costs of requests. All fields but `usd` are counts. */
export interface CostTotals {
  /** Requests sent to models, including failed attempts. */
  readonly requests: number;
  /** The requests whose price is unknown. `usd` does not include them. */
  readonly unpriced: number;
  /** Sum of the known prices in US dollars. The total cost is unknown if `unpriced` is not 0. */
  readonly usd: number;
  /** Input tokens, including those read from and written to the prompt cache. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  /** The part of the output tokens spent on reasoning. */
  readonly reasoningTokens: number;
  /** Input and output tokens of failed attempts, which the other fields do not include. */
  readonly wastedTokens: number;
}

/** The names of the counts and the cost, for stores that keep each in a column. */
export const costFields: readonly (keyof CostTotals)[] = [
  'requests',
  'unpriced',
  'usd',
  'inputTokens',
  'outputTokens',
  'cacheReadTokens',
  'cacheWriteTokens',
  'reasoningTokens',
  'wastedTokens',
];

/** Returns the sum of two costs. */
export function addCosts(one: CostTotals, other: CostTotals): CostTotals {
  const sum = costFields.map((field) => [field, one[field] + other[field]]);
  return Object.fromEntries(sum) as unknown as CostTotals;
}

/** The costs of no requests. */
export const noCosts: CostTotals = Object.fromEntries(
  costFields.map((field) => [field, 0]),
) as unknown as CostTotals;

/** Returns the sum of all rows. */
export function totalCosts(rows: readonly CostTotals[]): CostTotals {
  return withArgumentErrors('totalCosts', () => rows.reduce(addCosts, noCosts));
}

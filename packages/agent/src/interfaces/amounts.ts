/** Amounts of what a budget counts. */
export interface Amounts {
  /** US dollars. */
  readonly usd: number;
  /** Input and output tokens together, cached input included. */
  readonly tokens: number;
  /** Number of model requests. */
  readonly requests: number;
}

/** No amount of anything. */
export const noAmounts: Amounts = Object.freeze({ usd: 0, tokens: 0, requests: 0 });

/** The names of the amounts. */
export const amountNames: readonly (keyof Amounts)[] = ['usd', 'tokens', 'requests'];

/** Adds two amounts. */
export function addAmounts(left: Amounts, right: Amounts): Amounts {
  return {
    usd: left.usd + right.usd,
    tokens: left.tokens + right.tokens,
    requests: left.requests + right.requests,
  };
}

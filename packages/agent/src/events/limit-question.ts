import { AgentError, withArgumentErrors } from '../values/errors.ts';
import type { ReachedLimit } from '../values/stored-values.ts';

/** The question whether a run continues beyond a limit, and the words for its two answers. */
export interface LimitQuestion {
  readonly text: string;
  /** The decision `allow`. */
  readonly allow: string;
  /** The decision `deny`. */
  readonly deny: string;
}

/** Returns the question about a limit that was reached, the same wherever it is shown. A name in it is not made visible. */
export function limitQuestion(limit: ReachedLimit): LimitQuestion {
  return withArgumentErrors('limitQuestion', () => {
    const { amount, budget, spent, max, more } = limit;
    const what = budget === undefined ? "This run's limit" : `Budget ${JSON.stringify(budget)}`;
    const spentText = `${shown(amount, spent)} of ${formatted(amount, max)} spent`;
    const allow = `Continue with ${formatted(amount, more)} more`;
    const text = `${what} leaves too little for the next request: ${spentText}. ${allow}, or stop?`;
    return { text, allow, deny: 'Stop' };
  });
}

/**
 * Checks the answer to an approval: the amount to add is above 0, and requests and tokens are whole numbers.
 * @throws AgentError `invalid`, code `bad_decision`.
 */
export function checkMore(
  request: { readonly limit?: ReachedLimit } | undefined,
  answer: { readonly more?: number | undefined },
): void {
  withArgumentErrors('checkMore', () => {
    const [amount, { more }] = [request?.limit?.amount, answer];
    if (more === undefined || amount === undefined) return;
    if (more > 0 && (amount === 'usd' ? Number.isFinite(more) : Number.isInteger(more))) return;
    const form = amount === 'usd' ? 'an amount in US dollars' : `a whole number of ${amount}`;
    const message = `answer.more is invalid: it is ${more}. Use ${form} above 0.`;
    throw new AgentError({ kind: 'invalid', code: 'bad_decision', message });
  });
}

function formatted(amount: ReachedLimit['amount'], value: number): string {
  const unit = amount === 'usd' ? '' : ` ${value === 1 ? amount.slice(0, -1) : amount}`;
  return shown(amount, value) + unit;
}

function shown(amount: ReachedLimit['amount'], value: number): string {
  if (amount !== 'usd') return Math.ceil(value).toLocaleString('en-US');
  return `$${value > 0 && value < 0.1 ? Number(value.toPrecision(2)) : value.toFixed(2)}`;
}

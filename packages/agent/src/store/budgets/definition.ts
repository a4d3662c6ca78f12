import type { Amounts } from '../../interfaces/amounts.ts';
import { amountNames } from '../../interfaces/amounts.ts';
import type { Reader } from '../../values/input.ts';
import { amount, count, invalid, listOf, oneOf, record, text, when } from '../../values/input.ts';

/** The period after which a budget starts again: `run` counts each run separately, `total` never starts again. */
export type BudgetPeriod = 'total' | 'run' | 'hour' | 'day' | 'month';

/**
 * A budget that outlives processes: a limit on what all runs below it may spend together. Budgets form a tree, in which
 * every request counts toward its own budget and all budgets above it.
 */
export interface BudgetDefinition {
  /** Unique name, at most 200 characters, for example `user:42`. */
  readonly name: string;
  /** The name of the budget above this one. It must be defined first. */
  readonly parent?: string;
  /** Default `total`. */
  readonly per?: BudgetPeriod;
  /** IANA name of the time zone in which days and months start. Default `UTC`. Hours always start in UTC. */
  readonly timeZone?: string;
  /** Maximum amounts in one period. An absent amount is not limited. */
  readonly limits: Partial<Amounts>;
  /** Shares of a limit, in percent, that are reported when they are reached: see `BudgetStore.onAlert`. Default: none. */
  readonly alerts?: readonly number[];
}

/** Maximum number of characters of a name or an id. */
const maxNameLength = 200;

/** Reads the name of a budget, or the id of a request, session or run. */
export const readName: Reader<string> = when(
  (value) =>
    typeof value === 'string' &&
    value !== '' &&
    value.length <= maxNameLength &&
    !/\p{Cc}/u.test(value) &&
    value.isWellFormed(),
  `a string of 1 to ${maxNameLength} characters without control characters`,
);

const timeZone: Reader<string> = (value) => {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: text(value) }).resolvedOptions().timeZone;
  } catch {
    throw invalid(value, 'Use the IANA name of a time zone, such as "Europe/Berlin"');
  }
};

/** Finite, because an infinite amount would be a limit that is none. */
const finite: Reader<number> = (value) => {
  const given = amount(value);
  if (given !== Number.POSITIVE_INFINITY) return given;
  throw invalid(value, 'Omit the amount for no limit');
};

const readLimits: Reader<Partial<Amounts>> = record<Partial<Amounts>>({
  usd: finite,
  tokens: count,
  requests: count,
});

/** Reads amounts, of which none may be absent. */
export const readAmounts: Reader<Amounts> = record<Amounts>(
  { usd: finite, tokens: finite, requests: finite },
  amountNames,
);

const share: Reader<number> = when(
  (value) => typeof value === 'number' && value > 0 && value <= 1000,
  'a percentage above 0 and at most 1000',
);

/** Reads the definition of a budget. */
export const readDefinition: Reader<BudgetDefinition> = record<BudgetDefinition>(
  {
    name: readName,
    parent: readName,
    per: oneOf<BudgetPeriod>('total', 'run', 'hour', 'day', 'month'),
    timeZone,
    limits: readLimits,
    alerts: listOf(share),
  },
  ['name', 'limits'],
);

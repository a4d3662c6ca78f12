import type { Amounts } from '../../interfaces/amounts.ts';
import { addAmounts, noAmounts } from '../../interfaces/amounts.ts';
import { read, record, withMethods } from '../../values/input.ts';
import type { Runtime } from '../../values/runtime.ts';
import { systemRuntime } from '../../values/runtime.ts';
import { BudgetBook } from './budget-book.ts';
import type { BudgetStore } from './budget-store.ts';
import type { Balance, BalanceKey, BudgetTables, Hold, NumberedHold } from './budget-tables.ts';
import type { BudgetDefinition } from './definition.ts';

/** Options of {@link memoryBudgets}. */
export interface MemoryBudgetsOptions {
  /** Default: the clock of this process. */
  readonly runtime?: Pick<Runtime, 'now' | 'timer' | 'id'>;
}

/** Maximum number of periods of a budget. */
const maxPeriods = 10_000;

const readOptions = record<MemoryBudgetsOptions>({ runtime: withMethods('now', 'timer', 'id') });

/**
 * Returns budgets that last as long as this process. To limit memory use, each budget keeps only the balances
 * of the 10,000 most recently used periods or runs.
 * @throws AgentError `invalid`, code `bad_option`, for an invalid option.
 */
export function memoryBudgets(given: MemoryBudgetsOptions = {}): BudgetStore {
  const { runtime = systemRuntime } = read(given, readOptions);
  const tables = new MemoryTables(() => runtime.now());
  return new BudgetBook({
    runtime,
    leaseMs: undefined,
    transaction: (work) => work(tables),
    onClose: async () => {},
  });
}

class MemoryTables implements BudgetTables {
  readonly now: () => number;
  readonly #budgets = new Map<string, BudgetDefinition>();
  /** By budget, then by period. */
  readonly #balances = new Map<string, Map<string, Amounts>>();
  readonly #holds = new Map<string, NumberedHold>();
  #lastNumber = 0;

  constructor(now: () => number) {
    this.now = now;
  }

  budget(name: string): BudgetDefinition | undefined {
    return this.#budgets.get(name);
  }

  putBudget(definition: BudgetDefinition): void {
    this.#budgets.set(definition.name, definition);
  }

  names(): readonly string[] {
    return [...this.#budgets.keys()].sort();
  }

  children(above: string): readonly string[] {
    return [...this.#budgets.values()].filter(({ parent }) => parent === above).map(({ name }) => name);
  }

  balance(key: BalanceKey, before: number): Balance {
    const holds = [...this.#holds.values()];
    const sumOf = (wanted: Hold['state']) =>
      holds
        .filter(({ state, balances }) => state === wanted && balances.some(isSame(key)))
        .reduce((sum, { amounts }) => addAmounts(sum, amounts), noAmounts);
    return {
      settled: this.#balances.get(key.budget)?.get(key.period) ?? noAmounts,
      reserved: sumOf('open'),
      granted: sumOf('granted'),
      isAwaited: holds.some(({ number, waitsIn }) => number < before && waitsIn && isSame(key)(waitsIn)),
    };
  }

  add({ budget, period }: BalanceKey, amounts: Amounts): void {
    const periods = this.#balances.get(budget) ?? new Map<string, Amounts>();
    const sum = addAmounts(periods.get(period) ?? noAmounts, amounts);
    // Inserted last, so that the first one is the one that is unused for longest.
    periods.delete(period);
    this.#balances.set(budget, periods.set(period, sum));
    const [oldest] = periods.keys();
    if (periods.size > maxPeriods && oldest !== undefined) periods.delete(oldest);
  }

  hold(id: string): NumberedHold | undefined {
    return this.#holds.get(id);
  }

  putHold(hold: Hold): void {
    const number = this.#holds.get(hold.id)?.number ?? ++this.#lastNumber;
    this.#holds.set(hold.id, { ...hold, number });
  }

  removeHold(id: string): void {
    this.#holds.delete(id);
  }

  holdsOf(session: string): readonly NumberedHold[] {
    return [...this.#holds.values()].filter(
      ({ sessionId, state }) => sessionId === session && state !== 'waiting',
    );
  }

  /** The only process is alive. */
  abandoned(_: number, askedBefore: number): readonly NumberedHold[] {
    return [...this.#holds.values()].filter(({ state, since }) => state === 'waiting' && since < askedBefore);
  }

  prune(): void {}

  setAlive(): void {}
}

function isSame({ budget, period }: BalanceKey): (other: BalanceKey) => boolean {
  return (other) => other.budget === budget && other.period === period;
}

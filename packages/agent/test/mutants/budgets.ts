import type { Mutant } from './mutant.ts';

const book = 'src/store/budgets/budget-book.ts';
const decide = 'src/interfaces/decide-reservation.ts';
const sql = 'src/store/budgets/sql-tables.ts';
const client = 'src/store/budgets/budget-client.ts';

const rules = 'test/budgets/rules.test.ts';
const clientTest = 'test/budgets/budget-client.test.ts';

/** Bugs in budgets that outlive processes. U1 to U4 are the rules of `BudgetStore`. */
export const budgetMutants: readonly Mutant[] = [
  {
    file: decide,
    find: 'granted[name] = room;',
    replace: '',
    why: 'the last request of a period gets more than is left',
    breaks: ['U1'],
    by: rules,
  },
  {
    file: decide,
    find: 'if (isAwaited && !isLast) waitsAt ??= level;',
    replace: '',
    why: 'a small request passes larger ones that wait for the same budget',
    breaks: ['U4'],
    by: rules,
  },
  {
    file: decide,
    find: 'if (reserved[name] > 0 && !isLast) waitsAt ??= level;',
    replace: '',
    why: 'a request gets less than it wants although others would release the rest',
    breaks: ['U1'],
    by: 'budgets: waiting',
  },
  {
    file: decide,
    find: '(isLast && room < least[name])',
    replace: '(isLast && room < 0)',
    why: 'a request gets less than its minimum after a long wait',
    breaks: ['U1'],
    by: 'budgets: waiting',
  },
  {
    file: book,
    find: "hold.state === 'charged' ? hold.amounts : noAmounts",
    replace: 'noAmounts',
    why: 'what a crashed process used counts in addition to its reservation',
    breaks: ['U3'],
    by: rules,
  },
  {
    file: book,
    find: 'for (const key of hold.balances) await tables.add(key, hold.amounts);',
    replace: '',
    why: 'what a crashed process used is free',
    breaks: ['U3'],
    by: rules,
  },
  {
    file: book,
    find: "if (known !== undefined && known.state !== 'waiting') return",
    replace: "if (known?.state === 'open') return",
    why: 'a reservation of a crashed process is reserved again',
    breaks: ['U2'],
    by: rules,
  },
  {
    file: book,
    find: 'await this.#beat(tables, now);',
    replace: '',
    why: 'a process that makes reservations counts as crashed',
    breaks: ['U3'],
    by: rules,
  },
  {
    file: book,
    find: 'tables.setAlive(this.#owner, undefined)',
    replace: 'undefined',
    why: 'requests wait for a closed process until its lease ends',
    breaks: ['U3'],
    by: rules,
  },
  {
    file: book,
    find: 'name = definition.parent;',
    replace: 'name = undefined;',
    why: 'a request counts in its own budget only',
    breaks: ['U2'],
    by: rules,
  },
  {
    file: 'src/store/budgets/period.ts',
    find: 'return runId;',
    replace: "return '';",
    why: 'all runs share a budget per run',
    breaks: ['U2'],
    by: rules,
  },
  {
    file: sql,
    find: "AND b.period = ? AND h.state = 'open'",
    replace: 'AND b.period = ?',
    why: 'what a crashed process used counts as spent and as reserved',
    breaks: ['U2'],
    by: rules,
  },
  {
    file: sql,
    find: 'AND waits_period = ? AND number < ?',
    replace: 'AND waits_period = ? AND number <> ?',
    why: 'two requests wait for each other',
    breaks: ['U4'],
    by: rules,
  },
  {
    file: sql,
    find: 'ORDER BY since DESC, number DESC',
    replace: 'ORDER BY since, number',
    why: 'the latest crash can no longer be corrected',
    breaks: [],
    by: 'test/budgets/limits.test.ts',
  },
  {
    file: 'src/store/budgets/memory-budgets.ts',
    find: 'number < before && waitsIn',
    replace: 'number > before && waitsIn',
    why: 'requests in memory get their turn in the opposite order',
    breaks: ['U4'],
    by: 'budgets: waiting',
  },
  {
    file: client,
    find: 'for (const waiter of this.#waiters) wake(waiter);',
    replace: '',
    why: 'a request waits although its own process has released the room',
    breaks: ['U4'],
    by: clientTest,
  },
  {
    file: client,
    find: 'if (waiter.hasPlace) await',
    replace: 'if (waiter.cancelled === undefined) await',
    why: 'a cancelled request holds up others',
    breaks: ['U4'],
    by: clientTest,
  },
  {
    file: client,
    find: 'this.#runtime.monotonic() + this.#waitMs',
    replace: 'this.#runtime.monotonic() + 2 * this.#waitMs',
    why: 'a request waits longer than its caller allows',
    breaks: [],
    by: clientTest,
  },
];

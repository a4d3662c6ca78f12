import type { BudgetStore } from '@cobbler/agent/budgets';
import { defined } from '@cobbler/agent/values';

/** Storage of budgets, empty at first. */
export interface BudgetInstance {
  /** Opens the budgets as another process would. */
  open(): BudgetStore | Promise<BudgetStore>;
  /** Removes the storage. */
  remove?(): Promise<void>;
}

/** A budget store to test. */
export interface BudgetSubject {
  /** Name for reports. */
  readonly name: string;
  /** Returns new, empty storage. The store reads the time from `now` unless it has a clock of its own. Called once for each case. */
  place(now: () => number): BudgetInstance | Promise<BudgetInstance>;
  /** The reason why processes do not share budgets. Switches off the cases with several processes. */
  readonly forgets?: string;
  /** The reason why time cannot be set. Switches off the cases in which time passes. */
  readonly ownClock?: string;
}

/** The environment of one case. */
export interface BudgetSetup {
  readonly store: BudgetStore;
  /** Lets time pass, in milliseconds; negative if the clock is set back. */
  pass(ms: number): void;
  /** Opens the budgets as another process, which is closed after the case. */
  another(): Promise<BudgetStore>;
}

/** A case before it is bound to a subject. */
export interface BudgetCase {
  readonly group: string;
  readonly name: string;
  readonly needs?: 'processes' | 'time';
  run(setup: BudgetSetup): Promise<void>;
}

/** Returns a function that defines the cases of one group. */
export function group(
  name: string,
  needs?: BudgetCase['needs'],
): (what: string, run: BudgetCase['run']) => BudgetCase {
  return (what, run) => ({ group: name, name: what, run, ...defined({ needs }) });
}

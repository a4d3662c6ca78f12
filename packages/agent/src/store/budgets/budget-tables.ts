import type { Amounts } from '../../interfaces/amounts.ts';
import type { BudgetLevel } from '../../interfaces/decide-reservation.ts';
import type { BudgetDefinition } from './definition.ts';

/** A budget in one period. */
export interface BalanceKey {
  readonly budget: string;
  /** Length of the period, and its key: `day 2026-01-31`. */
  readonly period: string;
}

/** The state of a budget in one period. */
export interface Balance extends Omit<BudgetLevel, 'limits'> {
  readonly granted: Amounts;
}

/** A reservation, or a request that waits for one. */
export interface Hold {
  readonly id: string;
  /** The process that made it. */
  readonly owner: string;
  readonly sessionId: string;
  readonly runId: string;
  /**
   * `charged`: its process crashed, and it counts as spent in full until its usage is known. `granted`: not a reservation but
   * an amount that a user allowed beyond the limit, which stays.
   */
  readonly state: 'waiting' | 'open' | 'charged' | 'granted';
  readonly amounts: Amounts;
  /** The balances in which it counts, from its own budget to the root. */
  readonly balances: readonly BalanceKey[];
  /** The balance in which it waits for room. */
  readonly waitsIn?: BalanceKey;
  /** When it got its state, or when it last asked if it waits; in milliseconds since 1970. */
  readonly since: number;
}

/** A hold, and its place among all holds: a smaller number asked earlier. */
export interface NumberedHold extends Hold {
  readonly number: number;
}

/** The data of a budget store. All methods are called within one transaction. */
export interface BudgetTables {
  /** The clock that all processes share, in milliseconds since 1970. */
  now(): Awaitable<number>;
  budget(name: string): Awaitable<BudgetDefinition | undefined>;
  putBudget(definition: BudgetDefinition): Awaitable<void>;
  /** Names of all budgets, sorted. */
  names(): Awaitable<readonly string[]>;
  /** Names of the budgets directly below one. */
  children(parent: string): Awaitable<readonly string[]>;
  /** Returns a balance for a hold with this number: only smaller numbers are earlier. */
  balance(key: BalanceKey, number: number): Awaitable<Balance>;
  /** Adds to what is settled; the amounts can be negative. */
  add(key: BalanceKey, amounts: Amounts): Awaitable<void>;
  hold(id: string): Awaitable<NumberedHold | undefined>;
  /** Inserts a hold after all others, or replaces the one with its id, which keeps its number. */
  putHold(hold: Hold): Awaitable<void>;
  removeHold(id: string): Awaitable<void>;
  /** Returns the open and charged holds of a session, oldest first. */
  holdsOf(sessionId: string): Awaitable<readonly NumberedHold[]>;
  /** Returns the open and waiting holds of owners that are not alive, and those that wait and last asked before a time. */
  abandoned(now: number, askedBefore: number): Awaitable<readonly NumberedHold[]>;
  /** Removes owners that are not alive, the holds charged before a time, and all but the last `max` charged ones. */
  prune(now: number, chargedBefore: number, max: number): Awaitable<void>;
  /** Declares an owner alive until a time; undefined ends its life now. */
  setAlive(owner: string, until: number | undefined): Awaitable<void>;
}

/** A value that a table returns immediately or later. */
export type Awaitable<Value> = Value | Promise<Value>;

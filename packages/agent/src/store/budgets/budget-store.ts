import type { Amounts } from '../../interfaces/amounts.ts';
import type { BudgetGrant } from '../../interfaces/reservation.ts';
import { AgentError } from '../../values/errors.ts';
import type { Reader } from '../../values/input.ts';
import { flag, record } from '../../values/input.ts';
import type { BudgetAlert } from './alerts.ts';
import type { BudgetDefinition } from './definition.ts';
import { readAmounts, readName } from './definition.ts';

/** A request for a reservation. */
export interface ReservationRequest {
  /**
   * Unique id of at most 200 characters, like the other ids. A request with the same id asks again for the same reservation.
   * A waiting request keeps its place if it asks at least every 10 seconds.
   */
  readonly id: string;
  /** The budget that the request counts toward. */
  readonly budget: string;
  readonly sessionId: string;
  readonly runId: string;
  /** The worst case of the request. */
  readonly wanted: Amounts;
  /** The minimum that makes the request useful. */
  readonly least: Amounts;
  /** True to stop waiting: the result is then `held`, with the room that is left, or `refused`. Default false. */
  readonly isLast?: boolean;
}

/** The result of a request for a reservation. */
export type ReservationResult =
  /** The amounts are reserved: at most what was wanted, at least the minimum. */
  | { readonly state: 'held'; readonly amounts: Amounts }
  /** Other requests have reserved the room in this budget, or wait for it. Ask again with the same id. */
  | { readonly state: 'waiting'; readonly budget: string }
  /** The limit of this budget leaves too little. `endsAt` is the start of its next period, in milliseconds since 1970. */
  | {
      readonly state: 'refused';
      readonly budget: string;
      readonly limit: keyof Amounts;
      /** The maximum in this period, with what was granted. */
      readonly max: number;
      /** The maximum in any period. */
      readonly base: number;
      readonly spent: number;
      readonly endsAt?: number;
    };

/** A budget and its current period. */
export interface BudgetBalance {
  readonly definition: BudgetDefinition;
  /** The period, such as `2026-01-31`; empty for a budget without periods. */
  readonly period: string;
  /** The start of the next period, in milliseconds since 1970; absent if time does not end this one. */
  readonly endsAt?: number;
  /** What is spent. Contains estimates for requests whose process crashed before it knew their usage. */
  readonly settled: Amounts;
  /** What running requests have reserved. */
  readonly reserved: Amounts;
  /** What users granted beyond the limits in this period. */
  readonly granted: Amounts;
}

/** A reservation without a known outcome. */
export interface OpenReservation {
  readonly id: string;
  readonly runId: string;
  readonly amounts: Amounts;
}

/**
 * Stores budgets and what is spent and reserved in each, for one or several processes.
 *
 * U1 settled and reserved amounts together never exceed a limit, except by what a request used beyond its reservation;
 * U2 every request counts once, in its own budget and in all budgets above it, in the periods in which it was reserved;
 * U3 a reservation whose process crashed counts as spent in full until `settle` is called for it;
 * U4 requests that wait for the same budget get their turn in the order in which they first asked;
 * U5 a grant counts once, in the period in which it was made.
 *
 * An implementation must pass `budgetStoreContract`.
 */
export interface BudgetStore {
  /**
   * Defines a budget, or changes its parent, period and limits for all processes. What is spent stays.
   * @throws AgentError `invalid`, code `budget_parent`, if its parent is unknown or below it, or above 16 levels.
   */
  define(definition: BudgetDefinition): Promise<void>;
  /**
   * Reserves the worst case of a request in its budget and all budgets above it, in one step.
   * @throws AgentError `invalid`, code `no_budget`, if the budget is unknown.
   */
  reserve(request: ReservationRequest): Promise<ReservationResult>;
  /**
   * Replaces a reservation with what was used: zero for a request that was never sent. For a request that waits, ends the
   * wait. Does nothing if the reservation is unknown or was settled before.
   */
  settle(id: string, used: Amounts): Promise<void>;
  /**
   * Lets a budget spend more than its limits in its current period. The same id again has no effect.
   * @throws AgentError `invalid`, code `no_budget`, if the budget is unknown.
   */
  grant(grant: BudgetGrant): Promise<void>;
  /** Returns the reservations of a session that are not settled, oldest first, without those that wait. */
  unsettled(sessionId: string): Promise<readonly OpenReservation[]>;
  /** Returns the balances of all budgets, sorted by name, or of the given ones. `runId` selects the run of budgets per run. */
  balances(names?: readonly string[], runId?: string): Promise<readonly BudgetBalance[]>;
  /**
   * Calls the listener when something that this process did lets a budget reach one of its `alerts`. Each share alerts once in
   * a period, in one process. An alert is lost if the process ends before its listener does.
   */
  onAlert(listener: (alert: BudgetAlert) => void): void;
  /** Ends the use of the store. What this process has reserved and not settled is charged, as after a crash. */
  close(): Promise<void>;
}

/** Reads a request for a reservation. */
export const readRequest: Reader<ReservationRequest> = record<ReservationRequest>(
  {
    id: readName,
    budget: readName,
    sessionId: readName,
    runId: readName,
    wanted: readAmounts,
    least: readAmounts,
    isLast: flag,
  },
  ['id', 'budget', 'sessionId', 'runId', 'wanted', 'least'],
);

/** Reads a grant. */
export const readGrant: Reader<BudgetGrant> = record<BudgetGrant>(
  { id: readName, budget: readName, runId: readName, amounts: readAmounts },
  ['id', 'budget', 'runId', 'amounts'],
);

/** Maximum number of budgets from a request to the root. */
export const maxDepth = 16;

/** Creates the error for a budget that does not exist. */
export function unknownBudget(name: string): AgentError {
  const message = `There is no budget named ${JSON.stringify(name)}. Define it first.`;
  return new AgentError({ kind: 'invalid', code: 'no_budget', message });
}

/** Creates the error for a definition whose parent is below it, or too far from the root. */
export function invalidParent(name: string, parent: string): AgentError {
  const message = `Budget ${JSON.stringify(name)} cannot be a child of ${JSON.stringify(parent)}: a budget cannot be its own parent, and the tree can have at most ${maxDepth} levels.`;
  return new AgentError({ kind: 'invalid', code: 'budget_parent', message });
}

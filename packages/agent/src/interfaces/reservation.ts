import type { AgentError } from '../values/errors.ts';
import type { Amounts } from './amounts.ts';
import type { Spending } from './spending.ts';

/** An amount reserved for running work. */
export interface Reservation {
  /**
   * Charges the total usage of the failed attempts so far and keeps the full amount reserved for a retry. Returns
   * false, and charges nothing, if the limit leaves no room for both.
   */
  again(tokens: number, usd: number): boolean | Promise<boolean>;
  /**
   * Charges the actual usage, failed attempts included, and releases the rest. Only the first call counts.
   * @param spending describes it for the log of the run. Null: it is recorded elsewhere.
   */
  settle(tokens: number, usd: number, spending?: Spending | null): void;
}

/** The amounts of a request that waits for room if others have reserved it. */
export interface HoldRequest {
  /** The worst case of the request. */
  readonly wanted: Pick<Amounts, 'tokens' | 'usd'>;
  /** The minimum that makes the request useful. */
  readonly least: Pick<Amounts, 'tokens' | 'usd'>;
  readonly sessionId: string;
  readonly runId: string;
  /** Sequence number of the last event of the session before the request. */
  readonly seq: number;
  /** True if a call of the session sends it: the log then shows its usage as a `spent` event with its reservation. */
  readonly isOfCall?: boolean;
}

/** The amounts reserved for a request: at most what was wanted, at least the minimum. */
export interface BudgetHold extends Reservation, Pick<Amounts, 'tokens' | 'usd'> {}

/** A request for room in a budget that may wait. Both functions do nothing once it has its outcome. */
export interface PendingHold {
  /** Stops waiting: takes the room that is left, or fails if it is less than the minimum. */
  decide(): void;
  /** Withdraws the request, which then gets no outcome. */
  cancel(): void;
}

/** What users allowed beyond limits, in total. */
export interface RaisedLimits extends Pick<Amounts, 'tokens' | 'usd'> {}

/** An amount that a user allowed a budget of a store to spend beyond its limit. */
export interface BudgetGrant {
  /** Unique id of at most 200 characters. The same id again has no effect. */
  readonly id: string;
  readonly budget: string;
  /** The run that asked, for a budget per run. */
  readonly runId: string;
  readonly amounts: Amounts;
}

/** Receives the amounts of a request, or an error of kind `limit`, once. */
export type HoldListener = (outcome: BudgetHold | AgentError) => void;

/**
 * Returns the usage that the log of a session shows after an event: for a reservation of a call, or for the request of the
 * session itself. Undefined if there is none.
 */
export type RecordedUsage = (
  seq: number,
  reservation: string | undefined,
) => Promise<Pick<Amounts, 'tokens' | 'usd'> | undefined>;

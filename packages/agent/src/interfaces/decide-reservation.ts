import type { Amounts } from './amounts.ts';
import { amountNames } from './amounts.ts';

/** One budget on the way from a request to the root, in its current period. */
export interface BudgetLevel {
  readonly limits: Partial<Amounts>;
  /** What is spent. */
  readonly settled: Amounts;
  /** What running requests have reserved. */
  readonly reserved: Amounts;
  /** True if an earlier request waits for room in this budget. */
  readonly isAwaited: boolean;
}

/** What a request needs. */
export interface Demand {
  /** The worst case of the request. */
  readonly wanted: Amounts;
  /** The minimum that makes the request useful. */
  readonly least: Amounts;
  /** True if the request has waited long enough, and takes whatever room there is. */
  readonly isLast: boolean;
}

/** The decision on a request. `level` is an index into the levels. */
export type Verdict =
  | { readonly state: 'held'; readonly amounts: Amounts }
  | { readonly state: 'waiting'; readonly level: number }
  | { readonly state: 'refused'; readonly level: number; readonly limit: keyof Amounts };

/** Returns limits with what was granted beyond them. */
export function raisedLimits(limits: Partial<Amounts>, granted: Amounts): Partial<Amounts> {
  const raised: { -readonly [Name in keyof Amounts]?: number } = {};
  for (const name of amountNames) {
    const limit = limits[name];
    if (limit !== undefined) raised[name] = limit + granted[name];
  }
  return raised;
}

/**
 * Decides on a request: it gets what it wants if all budgets have room, waits if others have reserved that room, and is
 * refused if what is spent leaves less than its minimum. If nothing is reserved, it gets what is left.
 */
export function decideReservation(levels: readonly BudgetLevel[], demand: Demand): Verdict {
  const { wanted, least, isLast } = demand;
  const granted = { ...wanted };
  let waitsAt: number | undefined;
  for (const [level, { limits, settled, reserved, isAwaited }] of levels.entries()) {
    if (isAwaited && !isLast) waitsAt ??= level;
    for (const name of amountNames) {
      const limit = limits[name];
      if (limit === undefined) continue;
      // More than the limit may be spent. What needs nothing of an amount is not refused for it.
      const unspent = Math.max(0, limit - settled[name]);
      const room = Math.max(0, unspent - reserved[name]);
      if (unspent < least[name] || (isLast && room < least[name]))
        return { state: 'refused', level, limit: name };
      if (room >= granted[name]) continue;
      if (reserved[name] > 0 && !isLast) waitsAt ??= level;
      granted[name] = room;
    }
  }
  return waitsAt === undefined ? { state: 'held', amounts: granted } : { state: 'waiting', level: waitsAt };
}

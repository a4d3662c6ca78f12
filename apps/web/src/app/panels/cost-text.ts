import type { CostRow, CostTotals } from '@cobbler/agent/store';
import { money } from '../parts/format.ts';

/** Formats a cost; a request without a price is never shown as free. */
export function costText({ usd, unpriced }: CostTotals): string {
  if (unpriced === 0) return money(usd);
  return usd === 0 ? `unknown (${unpriced})` : `${money(usd)} + ${unpriced} unpriced`;
}

/** Formats the first or last day of a row, such as `Fri, Nov 27, 2026`. */
export function dayText(row: CostRow | undefined, end: 'first' | 'last' = 'first'): string {
  if (row === undefined) return '';
  return new Date(row[end]).toLocaleDateString('en', {
    weekday: 'short',
    year: 'numeric',
    month: 'short',
    day: 'numeric',
  });
}

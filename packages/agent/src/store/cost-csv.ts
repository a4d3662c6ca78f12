import { withArgumentErrors } from '../values/errors.ts';
import type { CostTotals } from './cost-totals.ts';
import { costFields } from './cost-totals.ts';
import type { CostGroup } from './costs.ts';

/** The costs of one group, without its times. */
type CsvRow = CostTotals & { readonly key: string | null };

/** Returns the costs as lines of comma-separated values with a header. A key that the events do not name is empty. */
export function costCsv(by: CostGroup, rows: readonly CsvRow[]): string[] {
  return withArgumentErrors('costCsv', () => {
    const lines = rows.map((row) => [quoted(row.key ?? ''), ...costFields.map((field) => row[field])]);
    return [[by, ...costFields], ...lines].map((line) => line.join(','));
  });
}

function quoted(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

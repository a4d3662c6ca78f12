import type { CostGroup, CostRow, CostTotals, Forecast } from '@cobbler/agent/store';
import { totalCosts } from '@cobbler/agent/store';
import { formatCount, formatUsd } from '../terminal/format.ts';
import { oneLine } from '../terminal/one-line.ts';
import type { Style } from '../terminal/style.ts';
import { padEnd } from '../terminal/text-width.ts';

/** Costs of a period, for display. */
export interface CostReport {
  readonly by: CostGroup;
  readonly rows: readonly CostRow[];
}

const titles = ['requests', 'input', 'cached', 'output', 'cost'];

/** Returns the costs as a table with a total. Shows at most `limit` groups; the total includes all. */
export function costTable({ by, rows }: CostReport, limit: number, style: Style): string[] {
  // The last days, or the most expensive of the other groups.
  const shown = by === 'day' ? rows.slice(-limit) : rows.slice(0, limit);
  const rest = by === 'day' ? rows.slice(0, -limit) : rows.slice(limit);
  const lines = shown.map((row) => [nameOf(row), ...cells(row)]);
  if (rest.length > 0) lines.push([`${rest.length} more`, ...cells(totalCosts(rest))]);
  const total = ['total', ...cells(totalCosts(rows))];
  const all = [[by, ...titles], ...lines, total];
  const widths =
    all[0]?.map((_, column) => Math.max(...all.map((line) => (line[column] ?? '').length))) ?? [];
  const text = (line: readonly string[]) =>
    line
      .map((cell, column) =>
        column === 0 ? padEnd(cell, widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd();
  return [style.dim(text(all[0] ?? [])), ...lines.map(text), style.bold(text(total))];
}

function nameOf({ key }: CostRow): string {
  return key === null ? '(not recorded)' : oneLine(key);
}

function cells(costs: CostTotals): string[] {
  const { requests, inputTokens, cacheReadTokens, outputTokens } = costs;
  const cached = inputTokens === 0 ? '' : `${Math.round((cacheReadTokens / inputTokens) * 100)}%`;
  return [
    formatCount(requests),
    formatCount(inputTokens),
    cached,
    formatCount(outputTokens),
    costText(costs),
  ];
}

/** Returns the cost; a request without a price is never shown as free. */
function costText({ usd, unpriced }: CostTotals): string {
  if (unpriced === 0) return formatUsd(usd);
  return usd === 0 ? `unknown (${unpriced})` : `${formatUsd(usd)} + ${unpriced} unpriced`;
}

/** Returns the forecast as a sentence. */
export function forecastText({ usd, isMinimum, until }: Forecast): string {
  const amount = usd < 10 ? formatUsd(usd) : `$${Math.round(usd).toLocaleString('en-US')}`;
  const month = new Date(until - 1).toLocaleString('en-US', { month: 'long' });
  return `At this pace: ${isMinimum ? 'at least ' : ''}${amount} by the end of ${month}.`;
}

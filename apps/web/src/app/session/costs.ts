import type { CostGroup, CostRow, CostTotals, Forecast } from '@cobbler/agent/store';
import { forecastOf, totalCosts } from '@cobbler/agent/store';
import { ask } from './api.ts';

/** The costs of a group of requests. Its times are ISO 8601. */
type StoredRow = Omit<CostRow, 'first' | 'last'> & { readonly first: string; readonly last: string };

/** The periods of the page by their number of days, which include today. */
export const periods = { '7 days': 7, '30 days': 30, '90 days': 90, '1 year': 365, all: undefined } as const;

/** A period of the page. */
export type Period = keyof typeof periods;

/** The costs of a period, as the page shows them. */
export interface CostReport {
  /** Every day from the first to the last of the period, also those without costs. */
  readonly days: readonly CostRow[];
  /** The groups of the table. */
  readonly rows: readonly CostRow[];
  readonly total: CostTotals;
  readonly forecast: Forecast | undefined;
}

/** Loads the costs of a period, by days of the time zone of this browser. @throws ApiError */
export async function loadCosts(by: CostGroup, period: Period, now: number): Promise<CostReport> {
  const start = startOf(period, now);
  const date = new Date(now);
  const monthStart = (after: number) => new Date(date.getFullYear(), date.getMonth() + after).getTime();
  const [days, rows] = await Promise.all([
    load('day', Math.min(start, monthStart(0))),
    by === 'day' ? undefined : load(by, start),
  ]);
  const shown = days.filter(({ first }) => first >= start);
  return {
    days: everyDay(shown, Math.max(start, shown[0]?.first ?? now), now),
    rows: rows ?? shown,
    total: totalCosts(shown),
    forecast: forecastOf({
      period: shown,
      since: start,
      month: days.filter(({ first }) => first >= monthStart(0)),
      now,
      until: monthStart(1),
    }),
  };
}

/** Returns the local midnight at which a period starts, in milliseconds since 1970. */
function startOf(period: Period, now: number): number {
  const days = periods[period];
  if (days === undefined) return 0;
  const { start } = dayAt(now, 1 - days);
  return start;
}

async function load(by: CostGroup, since: number): Promise<CostRow[]> {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  const query = new URLSearchParams({ by, since: new Date(since).toISOString(), timeZone });
  const { items } = await ask<{ items: StoredRow[] }>('GET', `/v1/costs?${query}`);
  return items.map((row) => ({ ...row, first: Date.parse(row.first), last: Date.parse(row.last) }));
}

/** Returns a day of the calendar and the time at which it starts. */
function dayAt(time: number, after: number): { readonly key: string; readonly start: number } {
  const date = new Date(time);
  date.setHours(0, 0, 0, 0);
  date.setDate(date.getDate() + after);
  const [year, month, day] = [date.getFullYear(), date.getMonth() + 1, date.getDate()];
  const two = (value: number) => String(value).padStart(2, '0');
  return { key: `${year}-${two(month)}-${two(day)}`, start: date.getTime() };
}

/** Adds the days without costs, so that the chart shows the pace. */
function everyDay(rows: readonly CostRow[], from: number, now: number): CostRow[] {
  const found = new Map(rows.map((row) => [row.key, row]));
  const days: CostRow[] = [];
  for (let after = 0; ; after += 1) {
    const { key, start } = dayAt(from, after);
    if (start > now) return days;
    days.push(found.get(key) ?? { ...totalCosts([]), key, first: start, last: start });
  }
}

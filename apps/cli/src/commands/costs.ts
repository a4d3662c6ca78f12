import { existsSync } from 'node:fs';
import type { SessionStore } from '@cobbler/agent';
import { systemRuntime } from '@cobbler/agent';
import type { CostGroup, CostQuery, CostRow, CostTotals, Forecast } from '@cobbler/agent/store';
import { costCsv, costGroups, forecastOf, readCosts, totalCosts } from '@cobbler/agent/store';
import type { RawOptions } from '../config/run-flags.ts';
import { serverHome } from '../server/server-home.ts';
import { sessionFile } from '../session/session-home.ts';
import { visibleJson } from '../terminal/escape.ts';
import { formatCount, formatUsd, parseAge, parseCount, plural } from '../terminal/format.ts';
import type { Io } from '../terminal/io.ts';
import { oneLine } from '../terminal/one-line.ts';
import { oneOf, optionValue } from '../terminal/option-value.ts';
import { screenFor } from '../terminal/screen.ts';
import type { Style } from '../terminal/style.ts';
import { styleFor } from '../terminal/style.ts';
import { padEnd } from '../terminal/text-width.ts';
import { UsageError } from '../terminal/usage-error.ts';

/** Runs `cobbler costs`: prints what all sessions have cost, grouped by a property. `now` is in milliseconds since 1970. */
export async function costs(options: RawOptions, io: Io, now: number = systemRuntime.now()): Promise<number> {
  const { json = false, csv = false } = options;
  if (json === true && csv === true)
    throw new UsageError('--json and --csv cannot be used together.', 'Remove one of them.');
  if (options['deleteBefore'] !== undefined) return await deleteBefore(options, io);
  const by =
    optionValue(
      options['by'],
      '--by',
      oneOf(costGroups),
      `Use one of: ${costGroups.join(', ')}`,
      costGroups,
    ) ?? 'day';
  const age = optionValue(
    options['since'] ?? '30d',
    '--since',
    (text) => (text === 'all' ? Number.POSITIVE_INFINITY : parseAge(text)),
    'For example: --since 7d, or --since all',
  );
  const since = Math.max(0, now - (age ?? 0));
  const limit = optionValue(options['limit'], '--limit', parseCount, 'For example: --limit 20') ?? 31;
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  const query = { by, since, timeZone };
  const { rows, forecast } = await answerOf(options['server'] === true, io, query, now);
  if (json === true) {
    const { usd, isMinimum, until } = forecast ?? {};
    const end = forecast && { usd, isMinimum, until: isoText(until) };
    const answer = {
      ...{ by, since: isoText(since), timeZone },
      rows: rows.map((row) => ({ ...row, first: isoText(row.first), last: isoText(row.last) })),
      total: totalCosts(rows),
      ...(end && { forecast: end }),
    };
    io.stdout.write(`${visibleJson(JSON.stringify(answer))}\n`);
  } else if (csv === true) io.stdout.write(`${costCsv(by, rows).join('\n')}\n`);
  else if (rows.length === 0) io.stderr.write('No costs in this period.\n');
  else {
    const table = costTable({ by, rows }, limit, styleFor(screenFor(io.stdout, io.env)));
    io.stdout.write(`${[...table, ...(forecast ? ['', forecastText(forecast)] : [])].join('\n')}\n`);
  }
  return 0;
}

function isoText(ms: number | undefined): string {
  return new Date(ms ?? 0).toISOString();
}

async function answerOf(
  isServer: boolean,
  io: Io,
  query: CostQuery & { readonly since: number },
  now: number,
): Promise<{ readonly rows: readonly CostRow[]; readonly forecast: Forecast | undefined }> {
  const store = await openStore(isServer, io);
  if (store === undefined) return { rows: [], forecast: undefined };
  try {
    const rows = await readCosts(store, query);
    const date = new Date(now);
    const monthStart = (after: number) => new Date(date.getFullYear(), date.getMonth() + after).getTime();
    const month = await readCosts(store, { by: 'kind', since: monthStart(0) });
    const data = { period: rows, since: query.since, month, now, until: monthStart(1) };
    return { rows, forecast: forecastOf(data) };
  } finally {
    await store.close();
  }
}

/** Deletes the costs before a day of this machine's time zone. */
async function deleteBefore(options: RawOptions, io: Io): Promise<number> {
  const day = String(options['deleteBefore']);
  const before = /^\d{4}-\d\d-\d\d$/.test(day) ? new Date(`${day}T00:00`).getTime() : Number.NaN;
  if (!(before >= 0))
    throw new UsageError(
      `--delete-before cannot be ${JSON.stringify(day)}.`,
      'For example: --delete-before 2026-01-01',
    );
  const store = await openStore(options['server'] === true, io);
  try {
    const requests = (await store?.deleteCosts?.(before)) ?? 0;
    io.stderr.write(
      `Deleted the costs of ${plural(requests, 'request')} from before ${day}. The sessions remain.\n`,
    );
    return 0;
  } finally {
    await store?.close();
  }
}

/** Opens the store; returns undefined if it does not exist yet, because looking must not create it. */
async function openStore(isServer: boolean, { env }: Io): Promise<SessionStore | undefined> {
  const { earlier, store: shared } = serverHome(env);
  const file = isServer ? (existsSync(earlier) ? earlier : shared) : sessionFile(env);
  if (file === undefined || !existsSync(file)) return undefined;
  const { sqliteStore } = await import('../session/sqlite-store.ts');
  return sqliteStore(file);
}

interface CostReport {
  readonly by: CostGroup;
  readonly rows: readonly CostRow[];
}

const titles = ['requests', 'input', 'cached', 'output', 'cost'];

/** Returns the costs as a table with a total. Shows at most `limit` groups; the total includes all. */
function costTable({ by, rows }: CostReport, limit: number, style: Style): string[] {
  // The last days, or the most expensive of the other groups.
  const shown = by === 'day' ? rows.slice(-limit) : rows.slice(0, limit);
  const rest = by === 'day' ? rows.slice(0, -limit) : rows.slice(limit);
  const lines = shown.map((row) => [row.key === null ? '(not recorded)' : oneLine(row.key), ...cells(row)]);
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

function forecastText({ usd, isMinimum, until }: Forecast): string {
  const amount = usd < 10 ? formatUsd(usd) : `$${Math.round(usd).toLocaleString('en-US')}`;
  const month = new Date(until - 1).toLocaleString('en-US', { month: 'long' });
  return `At this pace: ${isMinimum ? 'at least ' : ''}${amount} by the end of ${month}.`;
}

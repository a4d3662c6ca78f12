import type { Event } from '../events/event.ts';
import { spendingOf } from '../events/spending.ts';
import type { TriedModel } from '../interfaces/agent.ts';
import type { RequestUsage } from '../interfaces/metrics.ts';
import { argumentError, withArgumentErrors } from '../values/errors.ts';
import { timeOf } from '../values/runtime.ts';
import type { CostTotals } from './cost-totals.ts';
import { addCosts, costFields, noCosts, totalCosts } from './cost-totals.ts';
import { localDates } from './local-date.ts';

/** The properties of a request that a store keeps beside its session. Empty if its event does not name them. */
export const costNames = ['kind', 'model', 'user', 'tool'] as const;

/** The properties by which requests can be grouped. */
export const costGroups = ['day', 'model', 'user', 'session', 'tool', 'kind'] as const;

/** The property by which requests are grouped. */
export type CostGroup = (typeof costGroups)[number];

/**
 * The kind of a request: a response of the model, a summary of the conversation (`compaction`), a request without a
 * response (`failed`), or what sent it instead of the loop: see `who` of `SpentEvent`.
 */
export type CostKind = string;

/** A query for the costs of all sessions in a store. */
export interface CostQuery {
  readonly by: CostGroup;
  /** Start in milliseconds since 1970, rounded down to a quarter of an hour. Default: the first request. */
  readonly since?: number;
  /** End in milliseconds since 1970, rounded up to a quarter of an hour. Default: no end. */
  readonly until?: number;
  /** IANA time zone of the days. Default `UTC`. */
  readonly timeZone?: string;
  /** Only the costs of this user. Default: those of all. */
  readonly user?: string;
}

/** The costs of one group. */
export interface CostRow extends CostTotals {
  /**
   * The local date, such as `2026-01-31`, the model, the user, the session id, the tool or the {@link CostKind}. Null if
   * the events do not name it: responses have no tool.
   */
  readonly key: string | null;
  /** The quarter of an hour of the first request, in milliseconds since 1970. */
  readonly first: number;
  /** The quarter of an hour of the last request, in milliseconds since 1970. */
  readonly last: number;
}

/** The cost of an event, as a store keeps it. It contains no text of the session. */
export interface CostEntry extends CostTotals {
  /** Number of the quarter of an hour since 1970, the shortest period for which a store knows costs. */
  readonly quarter: number;
  readonly kind: CostKind;
  /** Empty if the event does not name it, like the other names. */
  readonly model: string;
  /** The user that the run was for. */
  readonly user: string;
  /** The tool whose call sent the request. */
  readonly tool: string;
}

/** A sum that a store has computed: of one quarter of an hour, or of another group. */
export interface CostSum extends CostTotals {
  readonly key: string | number;
  readonly firstQuarter: number;
  readonly lastQuarter: number;
}

/** Every time zone in use differs from UTC by a multiple of this. */
const quarterMs = 900_000;

/** Stores keep the number as an integer of 32 bits. */
const maxQuarter = 0x7fff_ffff;

/**
 * Returns what an event of a session cost: see `spendingOf`. It has an entry for each model that was asked, and none if it
 * cost nothing. What the same store also counts in another session costs nothing here.
 */
export function eventCosts(event: Event): readonly CostEntry[] {
  const spent = spendingOf(event);
  if (spent === undefined || (event.type === 'spent' && event.session !== undefined)) return nothing;
  try {
    const { answers = 1, tried = [] } = spent;
    const whole = entryOf(event, spent, answers);
    const failed = tried.flatMap((one) => failedEntry(whole, one));
    const rest = restOf(whole, failed, number(answers) > 0);
    return [rest, ...failed].filter((entry) => costFields.some((field) => entry[field] > 0));
  } catch (thrown) {
    throw argumentError('eventCosts', thrown);
  }
}

const nothing: readonly CostEntry[] = Object.freeze([]);

/** Returns what the request of an event cost, including the cost of models that failed before one responded. */
function entryOf(event: Event, spent: RequestUsage, answers: number): CostEntry {
  const { usage, wasted, attempts } = spent;
  const usd = spent.usd !== undefined && Number.isFinite(spent.usd) ? spent.usd : undefined;
  const requests = Math.max(number(attempts), number(answers), usd === undefined ? 1 : 0);
  return {
    quarter: Math.min(Math.floor(number(timeOf(event.time)) / quarterMs), maxQuarter),
    kind: kindOf(event),
    model: 'model' in event ? String(event.model ?? '') : '',
    user: String(event.user ?? ''),
    tool: event.type === 'spent' ? String(event.toolName ?? '') : '',
    requests,
    unpriced: usd === undefined ? requests : 0,
    usd: usd ?? 0,
    inputTokens: number(usage?.inputTokens),
    outputTokens: number(usage?.outputTokens),
    cacheReadTokens: number(usage?.cacheReadTokens),
    cacheWriteTokens: number(usage?.cacheWriteTokens),
    reasoningTokens: number(usage?.reasoningTokens),
    wastedTokens: number(wasted?.inputTokens) + number(wasted?.outputTokens),
  };
}

/** Returns the cost of a model that failed before another one responded. None if it was skipped or if the event contains only the cost of all models. */
function failedEntry(whole: CostEntry, { model, attempts, wasted, usd, unpriced }: TriedModel): CostEntry[] {
  if (usd === undefined && unpriced !== true) return [];
  const requests = Math.max(number(attempts), usd === undefined ? 1 : 0);
  return [
    {
      ...{ ...whole, ...noCosts, model: String(model), requests, usd: number(usd) },
      unpriced: usd === undefined ? requests : 0,
      wastedTokens: number(wasted?.inputTokens) + number(wasted?.outputTokens),
    },
  ];
}

/** Returns an entry without the models that failed before one responded. */
function restOf(whole: CostEntry, failed: readonly CostEntry[], isAnswered: boolean): CostEntry {
  if (failed.length === 0) return whole;
  const { requests, usd, wastedTokens } = totalCosts(failed);
  const rest = {
    requests: Math.max(whole.requests - requests, isAnswered ? 1 : 0),
    usd: Math.max(0, whole.usd - usd),
    wastedTokens: Math.max(0, whole.wastedTokens - wastedTokens),
  };
  const isUnpriced = whole.unpriced > 0 && (isAnswered || rest.wastedTokens > 0);
  return { ...whole, ...rest, unpriced: isUnpriced ? rest.requests : 0 };
}

function kindOf(event: Event): CostKind {
  if (event.type === 'spent') return String(event.who);
  if (event.type === 'assistant') return 'model';
  return event.type === 'compacted' ? 'compaction' : 'failed';
}

/** An event of another program can lack a count. A store must not reject it for that. */
function number(value: number | undefined): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0;
}

/** Identifies the row of a store that an entry of a session is added to. */
export function costKey(entry: Pick<CostEntry, 'quarter' | (typeof costNames)[number]>): string {
  return JSON.stringify([entry.quarter, ...costNames.map((name) => entry[name])]);
}

/** Returns the sum of the entries with the same time and names, so that a store writes each row once. */
export function mergeCosts(entries: readonly CostEntry[]): CostEntry[] {
  return withArgumentErrors('mergeCosts', () => {
    const merged = new Map<string, CostEntry>();
    for (const entry of entries) {
      const key = costKey(entry);
      const sum = merged.get(key);
      merged.set(key, sum === undefined ? entry : { ...entry, ...addCosts(sum, entry) });
    }
    return [...merged.values()];
  });
}

/** Returns the first quarter of an hour of a query, and the first one after it. */
export function quartersOf(query: CostQuery): readonly [from: number, to: number] {
  return withArgumentErrors('quartersOf', () => {
    const { since = 0, until } = query;
    const end = until === undefined ? maxQuarter : Math.ceil(until / quarterMs);
    return [Math.min(Math.floor(since / quarterMs), maxQuarter), Math.min(end, maxQuarter)];
  });
}

/**
 * Returns the first quarter of an hour of each local day, for stores that add up days themselves. The first entry is
 * `from`.
 * @param to the last quarter of an hour
 */
export function dayStarts(from: number, to: number, timeZone?: string): number[] {
  return withArgumentErrors('dayStarts', () => {
    const starts: number[] = [];
    for (let start = from; start <= to; start = dayEnd(start, timeZone)) starts.push(start);
    return starts;
  });
}

/** Returns the first quarter of an hour of the next local day. Formats few dates, because that takes long. */
export function dayEnd(start: number, timeZone?: string): number {
  const dayOf = localDates('day', timeZone);
  const day = dayOf(start * quarterMs);
  const isSame = (quarter: number) => dayOf(quarter * quarterMs) === day;
  // Most days start at midnight and have 24 hours; none in use has more than 25.
  if (isSame(start + 95) && !isSame(start + 96)) return start + 96;
  let [same, next] = [start, start + 101];
  while (next - same > 1) {
    const middle = (same + next) >> 1;
    if (isSame(middle)) same = middle;
    else next = middle;
  }
  return next;
}

/**
 * Returns the answer to a query from the sums of a store. For `day`, the keys are the numbers of quarters of an hour
 * in the day. Days are in order; other groups start with the most expensive one.
 */
export function costRows(sums: readonly CostSum[], query: CostQuery): CostRow[] {
  return withArgumentErrors('costRows', () => sorted(rowsOf(sums, query), query));
}

function rowsOf(sums: readonly CostSum[], { by, timeZone }: CostQuery): CostRow[] {
  const dayOf = localDates('day', timeZone);
  const rows = new Map<string, CostRow>();
  for (const { key, firstQuarter, lastQuarter, ...totals } of sums) {
    const name = by === 'day' ? dayOf(Number(key) * quarterMs) : String(key);
    const sum = rows.get(name);
    const first = firstQuarter * quarterMs;
    const last = lastQuarter * quarterMs;
    rows.set(name, {
      key: name === '' ? null : name,
      ...addCosts(sum ?? noCosts, totals),
      first: Math.min(first, sum?.first ?? first),
      last: Math.max(last, sum?.last ?? last),
    });
  }
  // The event of a request that a limit refused has neither requests nor costs.
  return [...rows.values()].filter(({ requests, usd }) => requests > 0 || usd > 0);
}

function sorted(rows: CostRow[], { by }: CostQuery): CostRow[] {
  const byKey = (one: CostRow, other: CostRow) => ((one.key ?? '') < (other.key ?? '') ? -1 : 1);
  return rows.sort(by === 'day' ? byKey : (one, other) => other.usd - one.usd || byKey(one, other));
}

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

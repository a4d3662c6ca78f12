import type { ExecutionMetrics, Limits } from '@cobbler/agent';
import type { FinishedEvent } from '@cobbler/agent/events';
import { reachedBudget } from '@cobbler/agent/values';
import { formatCount, formatMs, formatUsd, plural } from '../terminal/format.ts';
import { oneLine } from '../terminal/one-line.ts';
import type { Style } from '../terminal/style.ts';
import { flow } from '../terminal/text-width.ts';

/** The outcome of a run, for its last line. */
export interface RunSummary extends Omit<FinishedEvent, 'type'> {
  /** Limits of this run as the user set them, for naming the one that was reached. */
  readonly given: Limits & { readonly turns: number };
  /** Changed files, by path. */
  readonly changes: ReadonlyMap<string, { readonly added: number; readonly removed: number }>;
}

/** Returns the summary: status, work done, time, tokens and cost, then the changed files. */
export function summaryLines(end: RunSummary, style: Style, columns: number): string[] {
  const { metrics } = end;
  const facts = [
    `${plural(metrics.invocations, 'turn')}`,
    plural(metrics.toolCalls, 'tool'),
    formatMs(metrics.durationMs),
    tokenFact(metrics),
    ...(metrics.usd === undefined ? [] : [formatUsd(metrics.usd)]),
  ];
  const headline = `${headlineOf(end, style).trim()}  ${facts[0]}`;
  const [first = '', ...rest] = flow([headline, ...facts.slice(1)], ` ${style.marks.dot} `, columns - 1);
  return [
    paintStatus(first, end, style),
    ...rest.map((line) => `  ${line}`),
    ...changeLines(end, style, columns),
  ];
}

function tokenFact(metrics: ExecutionMetrics): string {
  const { totalInputTokens, totalOutputTokens, cacheReadTokens } = metrics;
  const share = totalInputTokens === 0 ? 0 : Math.round((100 * cacheReadTokens) / totalInputTokens);
  const cached = share > 0 ? ` (${share}% cached)` : '';
  return `${formatCount(totalInputTokens)} in${cached} ${formatCount(totalOutputTokens)} out`;
}

function headlineOf(end: RunSummary, { marks }: Style): string {
  switch (end.status) {
    case 'complete':
      return `${marks.ok} complete`;
    case 'limit':
      return `${marks.stopped} stopped ${limitText(end)}`;
    case 'timeout':
      return `${marks.stopped} stopped after ${formatMs(end.given.ms ?? end.metrics.durationMs)} (--timeout limit)`;
    case 'cancelled':
      return `${marks.stopped} cancelled`;
    case 'max_tokens':
      return `${marks.failed} cut off: the response reached its length limit`;
    case 'refusal':
      return `${marks.failed} refused: the model declined to respond`;
    case 'waiting':
      return `${marks.ask} waiting for approval`;
    case 'failed':
      return `${marks.failed} failed`;
  }
}

function limitText({ limit, given, metrics, error }: RunSummary): string {
  if (reachedBudget(error)) return 'at the limit of a budget';
  if (limit === 'turns') return `after ${plural(given.turns, 'turn')} (--max-turns limit)`;
  if (limit === 'usd')
    return `at ${metrics.usd === undefined ? 'an unknown share' : formatUsd(metrics.usd)} of ${formatUsd(given.usd ?? 0)} (--max-usd limit)`;
  if (limit === 'tokens') {
    const used = metrics.totalInputTokens + metrics.totalOutputTokens;
    return `at ${formatCount(used)} of ${formatCount(given.tokens ?? 0)} tokens (--max-tokens limit)`;
  }
  return limit === 'no_progress'
    ? 'because the model repeated itself'
    : `at the limit on ${oneLine(limit ?? '')}`;
}

function paintStatus(line: string, { status }: RunSummary, style: Style): string {
  const end = line.indexOf('  ');
  const head = end === -1 ? line : line.slice(0, end);
  const paint = status === 'complete' ? style.green : status === 'failed' ? style.red : style.yellow;
  return style.bold(paint(head)) + line.slice(head.length);
}

function changeLines({ changes }: RunSummary, style: Style, columns: number): string[] {
  if (changes.size === 0) return [];
  const files = [...changes].map(([path, { added, removed }]) => `${oneLine(path)} +${added} -${removed}`);
  const [first = '', ...rest] = files;
  const lines = flow([`${plural(changes.size, 'file')} changed: ${first}`, ...rest], ', ', columns - 3);
  return lines.map((line) => `  ${style.dim(line)}`);
}

import { formatCount, formatUsd, plural } from '../terminal/format.ts';
import type { Style } from '../terminal/style.ts';
import type { Ledger, PaidResponse } from '../view/ledger.ts';
import type { ChatHost } from './host.ts';

/** Returns the cost of a conversation: money, tokens by kind, cached and wasted tokens, and a bar per turn. */
export function costLines(ledger: Ledger, host: ChatHost, style: Style): string[] {
  const { turns, usage, wasted, usd } = ledger;
  if (turns.length === 0 && wasted.inputTokens + wasted.outputTokens === 0)
    return [style.dim('No requests yet, no cost.')];
  const { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0, reasoningTokens = 0 } = usage;
  const share = inputTokens === 0 ? 0 : Math.round((100 * cacheReadTokens) / inputTokens);
  const { dot } = style.marks;
  return [
    row(
      'cost',
      `${usd === undefined ? 'unknown: a price is missing' : formatUsd(usd)} ${dot} ${plural(turns.length, 'turn')}`,
      style,
    ),
    row(
      'input',
      `${formatCount(inputTokens)} ${dot} ${formatCount(cacheReadTokens)} read from cache (${share}%) ${dot} ${formatCount(cacheWriteTokens)} written to cache`,
      style,
    ),
    row(
      'output',
      `${formatCount(outputTokens)}${reasoningTokens > 0 ? ` ${dot} ${formatCount(reasoningTokens)} reasoning` : ''}`,
      style,
    ),
    row('wasted', `${formatCount(wasted.inputTokens + wasted.outputTokens)} in failed requests`, style),
    ...(turns.length === 0 ? [] : [row('turns', bars(turns, style), style)]),
    row('limit', limitText(host), style),
  ];
}

/** Returns the usage of the context window. */
export function contextLines(ledger: Ledger, host: ChatHost, style: Style): string[] {
  const used = ledger.contextTokens;
  const limit = host.model.contextTokens;
  const size =
    limit === undefined
      ? ' tokens'
      : ` of ${formatCount(limit)} tokens (${Math.round((100 * used) / limit)}%)`;
  return [
    row('window', `${formatCount(used)}${size}, as reported for the last request`, style),
    ...(limit === undefined ? [] : [row('', meter(used / limit, style), style)]),
    row(
      'events',
      `${ledger.seq} ${style.marks.dot} ${plural(ledger.runs.length, 'prompt')} ${style.marks.dot} ${plural(ledger.turns.length, 'response')}`,
      style,
    ),
    row(
      'room',
      ledger.compactions === 0
        ? 'none yet'
        : `older messages were replaced by a summary ${plural(ledger.compactions, 'time')}`,
      style,
    ),
  ];
}

/** Returns the used share of the context window: `12.3k/200k 6%`, yellow from 70 %, red from 90 %. */
export function windowFact(ledger: Ledger, host: ChatHost, style: Style): string {
  const used = ledger.contextTokens;
  const limit = host.model.contextTokens;
  if (limit === undefined) return `${formatCount(used)} tokens`;
  const share = Math.round((100 * used) / limit);
  const text = `${formatCount(used)}/${formatCount(limit)} ${share}%`;
  return share >= 90 ? style.red(text) : share >= 70 ? style.yellow(text) : text;
}

function row(name: string, text: string, style: Style): string {
  return `  ${style.dim(name.padEnd(8))}${text}`;
}

const steps = { unicode: '▁▂▃▄▅▆▇█', ascii: '_.-=+*#@' } as const;
const maxBars = 40;

/** Draws a bar per turn for its cost, or for its tokens if a price is unknown. */
function bars(turns: readonly PaidResponse[], style: Style): string {
  const last = turns.slice(-maxBars);
  const sizes = last.map(({ usage, usd }) => usd ?? usage.inputTokens + usage.outputTokens);
  const highest = Math.max(...sizes);
  const signs = style.marks.dot === '·' ? steps.unicode : steps.ascii;
  const line = sizes.map((size) => signs[highest === 0 ? 0 : Math.ceil((size / highest) * 7)] ?? '').join('');
  const hasPrices = last.every(({ usd }) => usd !== undefined);
  const top = hasPrices ? formatUsd(highest) : `${formatCount(highest)} tokens`;
  return `${style.cyan(line)}  highest ${top}`;
}

function meter(share: number, style: Style): string {
  const width = 40;
  const full = Math.max(0, Math.min(width, Math.round(share * width)));
  const [on, off] = style.marks.dot === '·' ? ['█', '░'] : ['#', '.'];
  return `${style.cyan((on ?? '').repeat(full))}${style.dim((off ?? '').repeat(width - full))}`;
}

function limitText({ limits: { turns, usd } }: ChatHost): string {
  const money = usd === undefined ? 'no cost limit (--max-usd)' : `at most ${formatUsd(usd)}`;
  return `${money}, ${plural(turns, 'turn')} per prompt`;
}

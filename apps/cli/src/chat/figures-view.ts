import { defined } from '@cobbler/agent/values';
import { formatCount, formatUsd, plural } from '../terminal/format.ts';
import type { Style } from '../terminal/style.ts';
import type { Ledger, PaidResponse } from '../view/ledger.ts';
import type { ChatHost } from './host.ts';

/** Returns the cost of a conversation: money, tokens by kind, cached and wasted tokens, and a bar per turn. */
export function costLines(ledger: Ledger, host: ChatHost, style: Style): string[] {
  const { turns, usage, wasted, usd } = ledger;
  if (turns.length === 0 && wasted.inputTokens + wasted.outputTokens === 0)
    return [style.dim('No requests yet, so no cost.')];
  const { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0, reasoningTokens = 0 } = usage;
  const share = inputTokens === 0 ? 0 : Math.round((100 * cacheReadTokens) / inputTokens);
  const { dot } = style.marks;
  const read = `${formatCount(cacheReadTokens)} read from cache (${share}%)`;
  const reasoning = reasoningTokens > 0 ? ` ${dot} ${formatCount(reasoningTokens)} reasoning` : '';
  const money = usd === undefined ? 'unknown: a price is missing' : formatUsd(usd);
  return rows(style, {
    cost: `${money} ${dot} ${plural(turns.length, 'turn')}`,
    input: `${formatCount(inputTokens)} ${dot} ${read} ${dot} ${formatCount(cacheWriteTokens)} written to cache`,
    output: `${formatCount(outputTokens)}${reasoning}`,
    wasted: `${formatCount(wasted.inputTokens + wasted.outputTokens)} in failed requests`,
    ...(turns.length > 0 && { turns: bars(turns, style) }),
    limit: limitText(host),
  });
}

/** Returns the usage of the context window. */
export function contextLines(ledger: Ledger, host: ChatHost, style: Style): string[] {
  const used = ledger.contextTokens;
  const limit = host.model.contextTokens;
  const size =
    limit === undefined
      ? ' tokens'
      : ` of ${formatCount(limit)} tokens (${Math.round((100 * used) / limit)}%)`;
  const { dot } = style.marks;
  const [prompts, responses] = [
    plural(ledger.runs.length, 'prompt'),
    plural(ledger.turns.length, 'response'),
  ];
  return rows(style, {
    window: `${formatCount(used)}${size}, as reported for the last request`,
    ...defined({ '': limit === undefined ? limit : meter(used / limit, style) }),
    events: `${ledger.seq} ${dot} ${prompts} ${dot} ${responses}`,
    summary:
      ledger.compactions === 0
        ? 'none yet'
        : `older messages were replaced by a summary ${plural(ledger.compactions, 'time')}`,
  });
}

/** Returns the used share of the context window: `12.3k/200k 6%`, yellow from 70%, red from 90%. */
export function windowFact(ledger: Ledger, host: ChatHost, style: Style): string {
  const used = ledger.contextTokens;
  const limit = host.model.contextTokens;
  if (limit === undefined) return `${formatCount(used)} tokens`;
  const share = Math.round((100 * used) / limit);
  const text = `${formatCount(used)}/${formatCount(limit)} ${share}%`;
  return share >= 90 ? style.red(text) : share >= 70 ? style.yellow(text) : text;
}

function rows(style: Style, texts: Readonly<Record<string, string>>): string[] {
  return Object.entries(texts).map(([name, text]) => `  ${style.dim(name.padEnd(8))}${text}`);
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

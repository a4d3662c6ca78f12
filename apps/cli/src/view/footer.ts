import { formatCount, formatSeconds, formatUsd } from '../terminal/format.ts';
import { oneLine } from '../terminal/one-line.ts';
import type { Style } from '../terminal/style.ts';
import { clip } from '../terminal/text-width.ts';

/** The activity for the line that is redrawn. */
export interface Activity {
  /** For example `waiting for claude-sonnet-5-5`. */
  readonly what: string;
  /** Duration of this activity. */
  readonly elapsedMs: number;
  /** Tokens used so far, input and output together. */
  readonly tokens: number;
  /** Cost in US dollars; absent if a price is unknown. */
  readonly usd?: number;
  /** The last lines that a running command printed. */
  readonly output?: readonly string[];
  /** For example `Ctrl-C stops`. */
  readonly hint?: string;
}

/** Returns the footer: the last lines of a command that is running, and the line of the activity. */
export function footerLines(activity: Activity, frame: number, style: Style, columns: number): string[] {
  const line = (text: string) => style.dim(`    ${clip(oneLine(text), columns - 5, style.marks.ellipsis)}`);
  return [...(activity.output ?? []).map(line), footerLine(activity, frame, style, columns)];
}

/** Returns the line of the activity: a spinner and the facts that fit. A narrow terminal hides the hint first. */
function footerLine(activity: Activity, frame: number, style: Style, columns: number): string {
  const { marks } = style;
  const { usd = 0 } = activity;
  const spinner = marks.spinner[frame % marks.spinner.length] ?? '';
  const facts = [
    formatSeconds(activity.elapsedMs),
    ...(activity.tokens > 0 ? [`${formatCount(activity.tokens)} tokens`] : []),
    ...(usd > 0 ? [formatUsd(usd)] : []),
    ...(activity.hint === undefined ? [] : [activity.hint]),
  ];
  const what = oneLine(activity.what);
  const separator = ` ${marks.dot} `;
  const room = columns - 1 - spinner.length - 1;
  for (let count = facts.length; count > 0; count -= 1) {
    const line = [what, ...facts.slice(0, count)].join(separator);
    if (clip(line, room, '') === line) return `${style.cyan(spinner)} ${style.dim(line)}`;
  }
  const time = separator + (facts[0] ?? '');
  return `${style.cyan(spinner)} ${style.dim(clip(what, room - time.length, marks.ellipsis) + time)}`;
}

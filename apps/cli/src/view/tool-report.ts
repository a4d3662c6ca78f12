import type { ToolResultEvent } from '@cobbler/agent/events';
import { todosToolName } from '@cobbler/tools/planning';
import { visible } from '../terminal/escape.ts';
import { formatMs } from '../terminal/format.ts';
import { oneLine } from '../terminal/one-line.ts';
import type { Style } from '../terminal/style.ts';
import { clip, padEnd, widthOf } from '../terminal/text-width.ts';
import { diffLines, moreLines } from './diff-lines.ts';

/** A finished call for display. */
export interface ToolReport extends Pick<ToolResultEvent, 'toolName' | 'summary' | 'durationMs'> {
  /** The most important argument. */
  readonly subject: string;
  readonly outcome: 'ok' | 'failed' | 'denied' | 'not_run';
  /** The result sent to the model. */
  readonly text: string;
  /** What it reported of its progress, for verbose output. */
  readonly steps?: readonly string[];
  /** The diff of its change, if not shown before. */
  readonly diff?: string;
  /** All arguments, for verbose output. */
  readonly arguments: Readonly<Record<string, unknown>>;
  /** True if the end of its output is worth showing. */
  readonly printed: boolean;
}

/** Format options of a report. */
export interface ReportView {
  readonly style: Style;
  readonly columns: number;
  readonly verbose: boolean;
}

const nameWidth = 12;
/** Maximum line width; wider lines are hard to read. */
const maxColumns = 100;
const tailLines = 5;
const reasonLines = 5;
const maxDiffLines = 24;
const detailIndent = '      ';

/** Formats a finished call for a terminal: one line, then the interesting part of its result. */
export function terminalReport(report: ToolReport, view: ReportView): string[] {
  return [...headLines(report, view), ...details(report, view).map((line) => detailIndent + line)];
}

/** Formats a finished call without a terminal, in words, because symbols and columns are of no use in a log. */
export function plainReport(report: ToolReport, view: ReportView): string[] {
  const outcome = isGood(report) ? 'ok' : report.outcome === 'ok' ? 'failed' : report.outcome;
  const facts = [
    'tool',
    oneLine(report.toolName),
    oneLine(report.subject),
    outcome.replace('_', ' '),
    oneLine(report.summary ?? ''),
    formatMs(report.durationMs).replace(' ', ''),
  ];
  const head = facts.filter((fact) => fact !== '').join(' ');
  return [head, ...details(report, { ...view, columns: 200 }).map((line) => `  ${line}`)];
}

/** Returns the line of a call: symbol, name and subject, with the result on the right. */
function headLines(report: ToolReport, { style, columns }: ReportView): string[] {
  const { marks } = style;
  const good = isGood(report);
  const mark = good ? marks.ok : marks.failed;
  const summary = oneLine(report.outcome === 'denied' ? 'denied' : (report.summary ?? ''));
  const time = report.outcome === 'denied' || report.outcome === 'not_run' ? '' : formatMs(report.durationMs);
  const right = [summary, time.padStart(7)].filter((fact) => fact.trim() !== '').join('  ');
  const painted = `${good ? summary : style.red(summary)}${right.slice(summary.length)}`;
  const left = callLine(good ? style.green(mark) : style.red(mark), mark, report, style);
  const width = Math.min(columns, maxColumns) - 1;
  if (width < 60) {
    const subject = clip(oneLine(report.subject), width - left.width, marks.ellipsis);
    const facts = [good ? summary : style.red(summary), time].filter((fact) => fact !== '');
    return [left.text + style.bold(subject), `${detailIndent}${facts.join('  ')}`];
  }
  const room = width - left.width - widthOf(right) - 2;
  const subject = clip(oneLine(report.subject), Math.max(8, room), marks.ellipsis);
  return [`${left.text}${padEnd(subject, Math.max(8, room))}  ${painted}`];
}

/** True if a call succeeded for the user. A command that failed is a normal result for the model, but not for the user. */
function isGood({ outcome, summary }: ToolReport): boolean {
  return outcome === 'ok' && !/^exit [1-9]/.test(summary ?? '');
}

function callLine(
  painted: string,
  mark: string,
  { toolName }: Pick<ToolReport, 'toolName'>,
  style: Style,
): { text: string; width: number } {
  const name = padEnd(oneLine(toolName), nameWidth);
  return { text: `  ${painted} ${style.bold(name)} `, width: 2 + mark.length + 1 + widthOf(name) + 1 };
}

/** Returns the line of a call that needs a decision. */
export function askLine(
  call: Pick<ToolReport, 'toolName' | 'subject' | 'summary'>,
  { style, columns }: ReportView,
): string {
  const mark = style.marks.ask;
  const left = callLine(style.yellow(mark), mark, call, style);
  const summary = oneLine(call.summary ?? '');
  const room = Math.min(columns, maxColumns) - 1 - left.width - widthOf(summary) - 2;
  const subject = oneLine(call.subject);
  // A call that needs approval is shown completely, however long it is: nothing may hide behind a cut.
  return `${left.text}${padEnd(subject, room)}  ${summary}`.trimEnd();
}

function details(report: ToolReport, view: ReportView): string[] {
  const { style } = view;
  const columns = Math.min(view.columns, maxColumns * 2) - detailIndent.length - 1;
  const lines: string[] = [];
  if (view.verbose) {
    lines.push(style.dim(oneLine(JSON.stringify(report.arguments))));
    lines.push(...(report.steps ?? []).map((step) => style.dim(`${style.marks.dot} ${oneLine(step)}`)));
  }
  if (report.diff !== undefined) {
    lines.push(...diffLines(report.diff, style, columns, view.verbose ? undefined : maxDiffLines));
  }
  if (view.verbose) return [...lines, ...textLines(report.text, report).map((line) => style.dim(line))];
  const clipLine = (line: string) =>
    style.dim(clip(line.replaceAll('\t', '    '), columns, style.marks.ellipsis));
  if (report.outcome !== 'ok') {
    const reason = textLines(report.text, report);
    const more = reason.length - reasonLines;
    lines.push(...reason.slice(0, reasonLines).map(clipLine));
    if (more > 0) lines.push(style.dim(moreLines(more)));
  } else if (report.toolName === todosToolName)
    lines.push(
      ...textLines(report.text, report).map((line) => (line.startsWith('[>]') ? line : clipLine(line))),
    );
  else if (report.printed) lines.push(...tail(textLines(report.text, report), clipLine, style));
  return lines;
}

function tail(lines: readonly string[], clipLine: (line: string) => string, style: Style): string[] {
  const telling = tellingLines(lines);
  const shown = telling.slice(-tailLines);
  const left = lines.filter((line) => line.trim() !== '').length - shown.length;
  return [...shown.map(clipLine), ...(left > 0 ? [style.dim(moreLines(left))] : [])];
}

/** Lines that `node --test` prints at the end of every run. */
const emptyCount = /^(#|ℹ) (suites|cancelled|skipped|todo) 0$|^(#|ℹ) duration_ms /;

/**
 * Removes blank lines, and what runtimes print below an error for programmers: stack frames and the fields of the
 * error object. Also removes counts of zero. Otherwise these lines would fill a short excerpt.
 */
export function tellingLines(lines: readonly string[]): string[] {
  const kept: string[] = [];
  let fields: number | undefined;
  for (const line of lines) {
    const indent = line.length - line.trimStart().length;
    if (fields !== undefined) {
      if (/^\s*\}/.test(line) && indent < fields) fields = undefined;
      continue;
    }
    const isFrame = /^\s+at .*(:\d+:\d+|<anonymous>|native)\)?( \{)?$/.test(line);
    if (isFrame && line.endsWith('{')) fields = indent;
    if (!isFrame && line.trim() !== '' && !emptyCount.test(line)) kept.push(line);
  }
  return kept;
}

/** Returns the text for the model as lines, without a first line that only repeats the summary. */
function textLines(text: string, { summary }: Pick<ToolReport, 'summary'>): string[] {
  const lines = visible(text).trimEnd().split('\n');
  if (summary !== undefined && lines[0] === `[${summary}]`) lines.shift();
  return lines.length === 1 && lines[0] === '(no output)' ? [] : lines;
}

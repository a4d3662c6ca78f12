import type { AssistantPart, Event, UserPart } from '@cobbler/agent';
import { textOf } from '@cobbler/agent';
import type {
  CallItem,
  CompactedEvent,
  ConversationItem,
  FinishedEvent,
  NoteItem,
} from '@cobbler/agent/events';
import { itemsOf, searchNotes } from '@cobbler/agent/events';
import { assertNever } from '@cobbler/agent/values';
import { visible } from '../terminal/escape.ts';
import { formatCount, plural } from '../terminal/format.ts';
import { MarkdownStream } from '../terminal/markdown.ts';
import { oneLine } from '../terminal/one-line.ts';
import type { Style } from '../terminal/style.ts';
import { moreLines } from './diff-lines.ts';
import type { ToolCallList } from './tool-calls.ts';
import { fileLabel } from './tool-calls.ts';
import type { ReportView } from './tool-report.ts';
import { askLine, plainReport, terminalReport } from './tool-report.ts';

/** Display options for the history of a session. */
export interface PastView extends ReportView {
  /** True for a terminal, with broken lines and symbols; false for a file. */
  readonly tty: boolean;
  /** Number of messages and responses at the end whose code has colors, because finding them takes time. Default: all. */
  readonly colored?: number;
  /** True to show only the first and last lines of a long message of the user. Default: all. */
  readonly shortens?: boolean;
}

/** Maximum number of lines of a message, and how many of a longer one are shown at its start and end. */
const [maxPrompt, promptHead, promptTail] = [20, 12, 4];

/** The screen lines of one event. */
interface Entry {
  readonly seq: number;
  readonly lines: readonly string[];
}

/** Returns the history as it was on the screen, in the order of the events. A blank line precedes messages and responses. */
export function pastLines(events: Iterable<Event>, calls: ToolCallList, view: PastView): string[] {
  const { items, queued } = itemsOf(events);
  const all = [...items, ...queued];
  const { colored = all.length, style } = view;
  const old = { ...view, style: { ...style, color: false } };
  const entries = all.flatMap((item, at) => entriesOf(item, calls, at < all.length - colored ? old : view));
  return entries.sort((one, other) => one.seq - other.seq).flatMap(({ lines }) => lines);
}

function entriesOf(item: ConversationItem, calls: ToolCallList, view: PastView): Entry[] {
  const { seq } = item;
  if (item.imported === true) return [];
  switch (item.kind) {
    case 'user':
      return [{ seq, lines: ['', ...promptLines(item.message.content, view)] }];
    case 'response': {
      if (item.event === undefined) return [];
      calls.addResponse(item.event);
      const lines = item.message === undefined ? [] : markdownLines(textOf(item.message), view);
      lines.push(...searchLines(item.parts, view.style));
      const reports = item.calls.flatMap((call) => reportOf(call, seq, calls, view));
      return [{ seq, lines: lines.length > 0 ? ['', ...lines] : [] }, ...reports];
    }
    case 'note':
      return [{ seq, lines: noteLines(item.what, view) }];
    default:
      return assertNever(item);
  }
}

function reportOf(item: CallItem, seq: number, calls: ToolCallList, view: PastView): Entry[] {
  const { report: event, startedAt, part } = item;
  if (event === undefined) {
    if (startedAt === undefined) return [];
    // Its process ended, or it is still running elsewhere.
    const subject = calls.subjectOf(part.toolName, part.arguments);
    return [{ seq, lines: [askLine({ toolName: part.toolName, subject, summary: 'no result' }, view)] }];
  }
  const report = calls.finish(event);
  return [{ seq: event.seq, lines: view.tty ? terminalReport(report, view) : plainReport(report, view) }];
}

function noteLines(note: NoteItem['what'], { style }: PastView): string[] {
  switch (note.type) {
    case 'compacted':
      return note.event.upTo === 0 ? [] : [style.dim(compactionWords(note.event))];
    case 'notice':
      return [style.dim(noticeWords)];
    case 'finished':
      return note.event.status === 'complete' ? [] : [style.dim(`${style.marks.dash} ${endOf(note.event)}`)];
    case 'failed':
    case 'stop':
    case 'resumed':
      return [];
    default:
      return assertNever(note);
  }
}

/** Returns the searches of a response and the numbered sources of its text. */
export function searchLines(content: readonly AssistantPart[], style: Style): string[] {
  const { lines, sources } = searchNotes(content);
  const shown = sources.map(({ url, title = '' }, at) => `${at + 1}. ${`${title} ${url}`.trim()}`);
  return [...lines, ...shown].map((line) => style.dim(oneLine(line)));
}

/** Returns what a compaction did: `12 older messages summarized to save space: 120k to 8k tokens`. */
export function compactionWords({ upTo, spent, tokensBefore, tokensAfter }: CompactedEvent): string {
  const how = spent === undefined ? 'omitted' : 'summarized';
  const size =
    tokensBefore === undefined || tokensAfter === undefined
      ? ''
      : `: ${formatCount(tokensBefore)} to ${formatCount(tokensAfter)} tokens`;
  return `${plural(upTo, 'older message')} ${how} to save space${size}`;
}

/** A notice of the runtime to the model, worded for users. */
export const noticeWords = 'the model repeated the same calls, so Cobbler asked it to try something else';

/** Returns a user message as lines with a prefix; attachments are only named. */
export function promptLines(
  content: readonly UserPart[],
  { style, shortens = false }: Pick<PastView, 'style' | 'shortens'>,
): string[] {
  const all = visible(promptWords(content)).split('\n');
  const lines = all.map(
    (line, at) => `${at === 0 ? style.cyan(style.marks.prompt) : ' '} ${style.bold(line)}`,
  );
  if (!shortens || lines.length <= maxPrompt) return lines;
  const more = style.dim(`  ${moreLines(lines.length - promptHead - promptTail)}`);
  return [...lines.slice(0, promptHead), more, ...lines.slice(-promptTail)];
}

/** Returns a user message as text; attachments are only named. */
export function promptWords(content: readonly UserPart[]): string {
  return content.map(wordsOf).join('\n').trim();
}

const attached = /^<attachment name=("(?:[^"\\]|\\.)*")>\n[\s\S]*\n<\/attachment>$/;

function wordsOf(part: UserPart): string {
  if (part.type !== 'text') return fileLabel(part);
  const name = attached.exec(part.text)?.[1];
  return name === undefined ? part.text : `[${String(JSON.parse(name))}]`;
}

function markdownLines(text: string, { style, columns, tty }: PastView): string[] {
  if (text.trim() === '') return [];
  const markdown = new MarkdownStream(style, () => (tty ? columns : Number.POSITIVE_INFINITY));
  const shown = markdown.push(visible(text.trim())) + markdown.end();
  return shown.trimEnd().split('\n');
}

function endOf({ status, limit, error }: FinishedEvent): string {
  if (limit !== undefined) return `stopped at the limit on ${limit}`;
  return error === undefined || status === 'cancelled'
    ? status.replace('_', ' ')
    : `${status}: ${visible(error.message).split('\n')[0] ?? ''}`;
}

import type { Event, UserPart } from '@cobbler/agent';
import { visible } from '../terminal/escape.ts';
import { plural } from '../terminal/format.ts';
import { MarkdownStream } from '../terminal/markdown.ts';
import type { ToolCallList } from './tool-calls.ts';
import type { ReportView } from './tool-report.ts';
import { plainReport, terminalReport } from './tool-report.ts';

/** Display options for the history of a session. */
export interface PastView extends ReportView {
  /** A terminal breaks lines and shows marks; a file does not. */
  readonly tty: boolean;
}

/** The history as it was on the screen: a blank line, then the lines, per event. */
export function pastLines(events: Iterable<Event>, calls: ToolCallList, view: PastView): string[] {
  return [...events].flatMap((event) => {
    const lines = linesOf(event, calls, view);
    const isApart = event.type === 'user' || event.type === 'assistant';
    return lines.length > 0 && isApart ? ['', ...lines] : lines;
  });
}

function linesOf(event: Event, calls: ToolCallList, view: PastView): string[] {
  const { style } = view;
  switch (event.type) {
    case 'user':
      return promptLines(event.content, view);
    case 'assistant': {
      calls.answered(event);
      const text = event.content.map((part) => (part.type === 'text' ? part.text : '')).join('');
      return markdownLines(text, view);
    }
    case 'tool_result': {
      const report = calls.finished(event);
      return view.tty ? terminalReport(report, view) : plainReport(report, view);
    }
    case 'compacted':
      return event.upTo === 0
        ? []
        : [style.dim(`${plural(event.upTo, 'older message')} replaced by a summary`)];
    case 'notice':
      return [style.dim(noticeWords)];
    case 'finished':
      return event.status === 'complete' ? [] : [style.dim(`${style.marks.dash} ${endOf(event)}`)];
    default:
      return [];
  }
}

/** A notice of the runtime to the model, in words for users. */
export const noticeWords = 'the model repeats the same calls: Cobbler asked it to try something else';

/** A user message, with a prefix; attachments are only named. */
export function promptLines(content: readonly UserPart[], { style }: Pick<PastView, 'style'>): string[] {
  const text = promptWords(content);
  const [first = '', ...rest] = visible(text).split('\n');
  return [
    `${style.cyan(style.marks.prompt)} ${style.bold(first)}`,
    ...rest.map((line) => `  ${style.bold(line)}`),
  ];
}

/** A user message as text; attachments are only named. */
export function promptWords(content: readonly UserPart[]): string {
  return content.map(wordsOf).join('\n').trim();
}

const attached = /^<attachment name=("(?:[^"\\]|\\.)*")>\n[\s\S]*\n<\/attachment>$/;

function wordsOf(part: UserPart): string {
  if (part.type !== 'text') return `[${part.type}]`;
  const name = attached.exec(part.text)?.[1];
  return name === undefined ? part.text : `[${String(JSON.parse(name))}]`;
}

function markdownLines(text: string, { style, columns, tty }: PastView): string[] {
  if (text.trim() === '') return [];
  const markdown = new MarkdownStream(style, () => (tty ? columns : Number.POSITIVE_INFINITY));
  const shown = markdown.push(visible(text.trim())) + markdown.end();
  return shown.trimEnd().split('\n');
}

function endOf({ status, limit, error }: Extract<Event, { type: 'finished' }>): string {
  if (limit !== undefined) return `stopped at the limit of ${limit}`;
  return error === undefined || status === 'cancelled'
    ? status.replace('_', ' ')
    : `${status}: ${visible(error.message).split('\n')[0] ?? ''}`;
}

import { oneLine } from '../terminal/one-line.ts';
import type { Style } from '../terminal/style.ts';
import { clip, padEnd, splitText, widthOf } from '../terminal/text-width.ts';
import type { EditorState } from './input/line-editor.ts';
import type { Menu } from './input/menu.ts';
import type { LiveFooter } from './live-page.ts';
import type { PrompterView } from './prompter.ts';

/** The content below the page. */
export interface InputView extends Omit<PrompterView, 'question' | 'isPicking'> {
  /** The activity or the question: lines above the input. */
  readonly above: readonly string[];
  /** Facts on the left; a hint is on the right if there is room. */
  readonly status: readonly string[];
  /** Shown while nothing is typed. */
  readonly placeholder: string;
}

const maxInputRows = 8;
const maxMenuRows = 8;

/** Returns the lines below the page and the position of the cursor. Each line fits in one row. */
export function inputView(view: InputView, style: Style, columns: number): LiveFooter {
  const width = columns - 1;
  const above = view.above.flatMap((line) => line.split('\n'));
  const menu = view.menu === undefined ? [] : menuLines(view.menu, style, width);
  const { rows, cursor } = inputRows(view.editor, width);
  const first = Math.max(0, Math.min(cursor.row - maxInputRows + 1, rows.length - maxInputRows));
  const shown = rows.slice(first, first + maxInputRows);
  const mark =
    view.search === undefined
      ? `${style.cyan(style.marks.prompt)} `
      : style.dim(`search ${clip(oneLine(view.search), 32, style.marks.ellipsis)}: `);
  const markWidth = view.search === undefined ? 2 : widthOf(stripColors(mark));
  const input = shown.map((row, index) =>
    index === 0 ? mark + clip(row, width - markWidth, '') : `  ${row}`,
  );
  const isEmpty = view.editor.text === '' && view.search === undefined;
  if (isEmpty) input[0] = `${mark}${style.dim(clip(view.placeholder, width - 2, style.marks.ellipsis))}`;
  const status = statusLine(view.status, 'Alt-Enter new line', style, width);
  const lines = [...above, ...menu, ...input, ...(status === '' ? [] : [status])];
  const row = above.length + menu.length + cursor.row - first;
  const indent = cursor.row === first ? markWidth : 2;
  return { lines, cursor: { row, column: Math.min(width, cursor.column + indent) } };
}

/** Returns the lines directly above the input: what the keys do at the moment. */
export function noteLines(
  { isBlocked, isShell, question }: { isBlocked: boolean; isShell: boolean } & Pick<PrompterView, 'question'>,
  style: Style,
): string[] {
  return [
    ...(isShell ? [style.dim('a shell command is running · Ctrl-C stops it')] : []),
    ...(question === undefined ? [] : [style.yellow(`  ${question}?   y yes   n no`)]),
    ...(isBlocked ? [style.yellow('    Tab sets your draft aside')] : []),
  ];
}

/** Returns the text that is shown while nothing is typed. */
export function placeholderOf(
  { question, isPicking }: Pick<PrompterView, 'question' | 'isPicking'>,
  dialog: { readonly isTyping: boolean } | undefined,
  isRunning: boolean,
  hasAside: boolean,
): string {
  if (isPicking) return 'type to filter, Enter chooses, Esc closes';
  const draft = 'Tab to return to your draft';
  const steer = 'type a message to steer the run';
  if (question !== undefined) return `press y or n, or ${hasAside ? draft : 'type a message'}`;
  if (dialog?.isTyping === true) return 'type the reason, then press Enter';
  if (dialog !== undefined) return `press a key shown above to respond, or ${hasAside ? draft : steer}`;
  if (isRunning) return hasAside ? `${steer}, or ${draft}` : steer;
  return 'describe a task  /help  @file  !shell';
}

/** Returns the input in rows that fit, and the cursor position in them. Control characters are shown as symbols. */
function inputRows(
  { text, cursor }: EditorState,
  width: number,
): { rows: string[]; cursor: { row: number; column: number } } {
  const room = Math.max(8, width - 2);
  const rows: string[] = [];
  let place = { row: 0, column: 0 };
  let offset = 0;
  for (const line of text.split('\n')) {
    const upTo = cursor - offset;
    const isHere = upTo >= 0 && upTo <= line.length;
    const wrapped = splitText(shownText(line), room);
    if (isHere) {
      const before = splitText(shownText(line.slice(0, upTo)), room);
      place = { row: rows.length + before.length - 1, column: widthOf(before.at(-1) ?? '') };
    }
    rows.push(...wrapped);
    offset += line.length + 1;
  }
  return { rows, cursor: place };
}

/** A character that joins two letters or emoji, or selects how one is drawn, as in Persian text or a family of emoji. */
const joiner =
  /(?<=\ufe0f|(?![\0-\x7f])[\p{Extended_Pictographic}\p{Emoji_Modifier}\p{L}\p{M}])(\u200c|\u200d|\ufe0f)/u;

function shownText(text: string): string {
  const shown = (part: string) => oneLine(`|${part.replaceAll('\t', '    ')}|`).slice(1, -1);
  // The bars keep leading and trailing spaces visible as they were typed.
  return text
    .split(joiner)
    .map((part, at) => (at % 2 === 0 ? shown(part) : part))
    .join('');
}

function menuLines({ items, chosen, title }: Menu, style: Style, width: number): string[] {
  const first = Math.max(0, Math.min(chosen - maxMenuRows + 1, items.length - maxMenuRows));
  const shown = items.slice(first, first + maxMenuRows);
  const nameWidth = Math.min(
    Math.floor(width / 2),
    Math.max(0, ...shown.map(({ name }) => widthOf(oneLine(name)))),
  );
  const rows = shown.map(({ name, text = '' }, index) => {
    const isChosen = first + index === chosen;
    const left = padEnd(clip(oneLine(name), nameWidth, style.marks.ellipsis), nameWidth);
    const room = width - nameWidth - 6;
    const right = room > 8 ? clip(oneLine(text), room, style.marks.ellipsis) : '';
    const mark = isChosen ? style.cyan(style.marks.prompt) : ' ';
    return `  ${mark} ${isChosen ? style.bold(left) : left}  ${style.dim(right)}`.trimEnd();
  });
  const left = items.length - shown.length;
  const more = left > 0 ? [style.dim(`    ${left} more`)] : [];
  const none = items.length === 0 ? [style.dim('    no match')] : [];
  const head = title === undefined ? [] : [style.dim(clip(`  ${title}`, width, ''))];
  return [...head, ...rows, ...none, ...more];
}

/** Puts facts on the left and the hint on the right. Without enough room, the hint is dropped, then facts from the right. */
function statusLine(facts: readonly string[], hint: string, style: Style, width: number): string {
  const separator = ` ${style.marks.dot} `;
  for (let count = facts.length; count > 0; count -= 1) {
    const left = facts.slice(0, count).join(separator);
    const used = widthOf(stripColors(left)) + 2;
    if (used > width) continue;
    const room = width - used - widthOf(hint) - 2;
    const right = count === facts.length && room >= 0 ? ' '.repeat(room + 2) + hint : '';
    return `  ${style.dim(left)}${style.dim(right)}`;
  }
  return '';
}

function stripColors(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colors of the CLI take no space.
  return text.replaceAll(/\x1b\[[\d;]+m/g, '');
}

import type { ChatKey } from './key.ts';

/** The input and the cursor position in it, in code units. */
export interface EditorState {
  readonly text: string;
  readonly cursor: number;
}

export const emptyEditor: EditorState = { text: '', cursor: 0 };

/** Returns the state for a text with the cursor at its end. */
export function editorWith(text: string): EditorState {
  return { text, cursor: text.length };
}

/** Returns the state after a key; the same state if the key has no effect. */
export function edit(state: EditorState, key: ChatKey): EditorState {
  const { text, cursor } = state;
  switch (key.type) {
    case 'text':
    case 'paste':
      return insert(state, key.text);
    case 'newline':
      return insert(state, '\n');
    case 'backspace':
      return remove(state, previousPosition(text, cursor), cursor);
    case 'delete':
      return remove(state, cursor, nextPosition(text, cursor));
    case 'delete_word':
      return remove(state, wordBefore(text, cursor), cursor);
    case 'delete_to_start':
      return remove(state, lineStart(text, cursor), cursor);
    case 'delete_to_end':
      return remove(state, cursor, lineEnd(text, cursor));
    default:
      return { text, cursor: movedCursor(state, key) };
  }
}

/** True if the cursor is on the first (up) or last (down) line, so that the key leaves the text. */
export function atEdge({ text, cursor }: EditorState, direction: 'up' | 'down'): boolean {
  return direction === 'up' ? lineStart(text, cursor) === 0 : lineEnd(text, cursor) === text.length;
}

/** Replaces a backslash before the cursor by a line break when Enter is pressed. Returns undefined if there is none. */
export function brokenLine({ text, cursor }: EditorState): EditorState | undefined {
  if (text[cursor - 1] !== '\\') return undefined;
  return { text: `${text.slice(0, cursor - 1)}\n${text.slice(cursor)}`, cursor };
}

export function insert({ text, cursor }: EditorState, more: string): EditorState {
  return { text: text.slice(0, cursor) + more + text.slice(cursor), cursor: cursor + more.length };
}

export function remove({ text }: EditorState, from: number, to: number): EditorState {
  return { text: text.slice(0, from) + text.slice(to), cursor: from };
}

function movedCursor({ text, cursor }: EditorState, { type }: ChatKey): number {
  switch (type) {
    case 'left':
      return previousPosition(text, cursor);
    case 'right':
      return nextPosition(text, cursor);
    case 'home':
      return lineStart(text, cursor);
    case 'end':
      return lineEnd(text, cursor);
    case 'word_left':
      return wordBefore(text, cursor);
    case 'word_right':
      return cursor + (/^\s*\S*/.exec(text.slice(cursor))?.[0].length ?? 0);
    case 'up':
      return otherLine(text, cursor, lineStart(text, cursor) - 1);
    case 'down':
      return otherLine(text, cursor, lineEnd(text, cursor) + 1);
    default:
      return cursor;
  }
}

/** Returns the same column in the line that contains `place`, or the end of that line; the cursor if there is no such line. */
function otherLine(text: string, cursor: number, place: number): number {
  if (place < 0 || place > text.length) return cursor;
  const column = cursor - lineStart(text, cursor);
  const target = Math.min(lineStart(text, place) + column, lineEnd(text, place));
  // Do not stop in the middle of a character.
  return target === text.length ? target : previousPosition(text, nextPosition(text, target));
}

export function lineStart(text: string, cursor: number): number {
  return text.lastIndexOf('\n', cursor - 1) + 1;
}

export function lineEnd(text: string, cursor: number): number {
  const end = text.indexOf('\n', cursor);
  return end === -1 ? text.length : end;
}

function wordBefore(text: string, cursor: number): number {
  return cursor - (/\S*\s*$/.exec(text.slice(0, cursor))?.[0].length ?? 0);
}

const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Number of code units to read around the cursor, because a paste can be long. */
const reach = 64;

export function previousPosition(text: string, cursor: number): number {
  if (cursor === 0) return 0;
  const begin = Math.max(0, cursor - reach);
  const segments = [...segmenter.segment(text.slice(begin, cursor))];
  return begin + (segments.at(-1)?.index ?? 0);
}

export function nextPosition(text: string, cursor: number): number {
  const [first] = segmenter.segment(text.slice(cursor, cursor + reach));
  return cursor + (first?.segment.length ?? 0);
}

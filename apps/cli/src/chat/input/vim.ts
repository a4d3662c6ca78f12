import type { ChatKey } from './key.ts';
import type { EditorState } from './line-editor.ts';
import { edit, insert, lineEnd, lineStart, nextPosition, previousPosition, remove } from './line-editor.ts';

/** Where a motion leads. A range up to it contains the character there if it is inclusive, or whole lines. */
interface Target {
  readonly to: number;
  readonly reach?: 'inclusive' | 'lines';
}

const maxUndo = 100;

/** An operator, and a motion or a command, some with a character; and the start of these. */
const whole = /^([dcy]?)(gg|[fFtTr][\s\S]|[\s\S])$/u;
const partial = /^[dcy]?[gfFtTr]?$/;

/** The keys of Vim for the input: insert and normal mode, motions, operators and an undo. */
export class VimKeys {
  mode: 'insert' | 'normal' = 'insert';
  #typed = '';
  #register = { text: '', isLines: false };
  readonly #undo: EditorState[] = [];

  /** Returns the state after a key. A key that is handled as without Vim, or another one in its place, is returned. */
  key(state: EditorState, key: ChatKey): EditorState | ChatKey {
    if (key.type === 'escape') {
      this.#typed = '';
      if (this.mode === 'normal') return state;
      this.mode = 'normal';
      return move(state, targetOf(state, 'h')?.to ?? 0);
    }
    if (this.mode === 'insert') return key;
    if (key.type === 'backspace') return { type: 'left' };
    if (key.type !== 'text') return key;
    let current = state;
    for (const [index, letter] of [...key.text].entries()) {
      // Letters that arrive together after a command that inserts belong to the text.
      if (this.mode !== 'normal') return edit(current, { ...key, text: [...key.text].slice(index).join('') });
      const next = this.#letter(current, letter);
      if ('type' in next) return next;
      current = next;
    }
    return current;
  }

  #letter(state: EditorState, letter: string): EditorState | ChatKey {
    this.#typed += letter;
    if (partial.test(this.#typed)) return state;
    const [, operator = '', command = ''] = whole.exec(this.#typed) ?? [];
    this.#typed = '';
    if (operator === '' && command === 'j') return { type: 'down' };
    if (operator === '' && command === 'k') return { type: 'up' };
    if (operator === '') return this.#onCharacter(this.#command(state, command));
    const target =
      command === operator
        ? { to: state.cursor, reach: 'lines' as const }
        : targetOf(state, command, operator);
    return target === undefined ? state : this.#onCharacter(this.#operate(state, operator, target));
  }

  /** In normal mode, the cursor is on a character, not behind the last one of its line. */
  #onCharacter(state: EditorState): EditorState {
    const { text, cursor } = state;
    const isBehind = this.mode === 'normal' && cursor === lineEnd(text, cursor);
    return isBehind ? move(state, targetOf(state, 'h')?.to ?? cursor) : state;
  }

  #command(state: EditorState, command: string): EditorState {
    const { text, cursor } = state;
    const end = lineEnd(text, cursor);
    const start = lineStart(text, cursor);
    switch (command) {
      case 'i':
        return this.#insert(state, state);
      case 'a':
        return this.#insert(state, move(state, Math.min(end, nextPosition(text, cursor))));
      case 'I':
        return this.#insert(state, move(state, targetOf(state, '^')?.to ?? cursor));
      case 'A':
        return this.#insert(state, move(state, end));
      case 'o':
        return this.#insert(state, insert(move(state, end), '\n'));
      case 'O':
        return this.#insert(state, move(insert(move(state, start), '\n'), start));
      case 'x':
        return this.#operate(state, 'd', { to: Math.min(end, nextPosition(text, cursor)) });
      case 'D':
        return this.#operate(state, 'd', { to: end });
      case 'C':
        return this.#operate(state, 'c', { to: end });
      case 'p':
      case 'P':
        return this.#put(state, command === 'p');
      case 'u':
        return this.#undo.pop() ?? state;
    }
    if (command.startsWith('r')) {
      if (cursor === end) return state;
      this.#remember(state);
      return move(insert(remove(state, cursor, nextPosition(text, cursor)), command.slice(1)), cursor);
    }
    return move(state, targetOf(state, command)?.to ?? cursor);
  }

  #operate(state: EditorState, operator: string, { to, reach }: Target): EditorState {
    const { text, cursor } = state;
    let from = Math.min(cursor, to);
    let end = Math.max(cursor, to);
    if (reach === 'inclusive') end = Math.min(lineEnd(text, end), nextPosition(text, end));
    if (reach === 'lines') [from, end] = [lineStart(text, from), lineEnd(text, end)];
    this.#register = { text: text.slice(from, end), isLines: reach === 'lines' };
    if (operator === 'y') return move(state, reach === 'lines' ? cursor : from);
    if (operator === 'c') return this.#insert(state, remove(state, from, end));
    this.#remember(state);
    // A line is removed with one of the line breaks around it.
    if (reach === 'lines' && end < text.length) end += 1;
    else if (reach === 'lines' && from > 0) from -= 1;
    const rest = remove(state, from, end);
    return reach === 'lines' ? move(rest, lineStart(rest.text, Math.min(from, rest.text.length))) : rest;
  }

  #put(state: EditorState, isAfter: boolean): EditorState {
    const { text, cursor } = state;
    const { text: more, isLines } = this.#register;
    if (more === '' && !isLines) return state;
    this.#remember(state);
    const end = lineEnd(text, cursor);
    if (isLines && isAfter) return move(insert(move(state, end), `\n${more}`), end + 1);
    const start = lineStart(text, cursor);
    if (isLines) return move(insert(move(state, start), `${more}\n`), start);
    const at = isAfter ? Math.min(end, nextPosition(text, cursor)) : cursor;
    return move(insert(move(state, at), more), at + more.length - 1);
  }

  #insert(before: EditorState, state: EditorState): EditorState {
    this.#remember(before);
    this.mode = 'insert';
    return state;
  }

  #remember(state: EditorState): void {
    this.#undo.push(state);
    if (this.#undo.length > maxUndo) this.#undo.shift();
  }
}

function move({ text }: EditorState, cursor: number): EditorState {
  return { text, cursor };
}

const word = '[\\p{L}\\p{N}\\p{M}_]+|[^\\p{L}\\p{N}\\p{M}_\\s]+';
const nextWord = new RegExp(`^(?:${word})?\\s*`, 'u');
const thisWord = new RegExp(`^(?:${word}|\\s+)`, 'u');
const wordEnd = new RegExp(`^\\s*(?:${word})`, 'u');
const wordBefore = new RegExp(`(?:${word})\\s*$`, 'u');

/** Returns where a motion leads; undefined if it leads nowhere. */
function targetOf(state: EditorState, motion: string, operator = ''): Target | undefined {
  const { text, cursor: at } = state;
  const start = lineStart(text, at);
  const end = lineEnd(text, at);
  switch (motion) {
    case 'h':
      return { to: Math.max(start, previousPosition(text, at)) };
    case 'l':
      return { to: Math.min(end, nextPosition(text, at)) };
    case 'j':
      return end === text.length ? undefined : { to: edit(state, { type: 'down' }).cursor, reach: 'lines' };
    case 'k':
      return start === 0 ? undefined : { to: edit(state, { type: 'up' }).cursor, reach: 'lines' };
    case 'w':
      // As in Vim, changing a word leaves the blanks after it.
      return { to: after(operator === 'c' ? thisWord : nextWord, text, at) };
    case 'e':
      return { to: previousPosition(text, after(wordEnd, text, nextPosition(text, at))), reach: 'inclusive' };
    case 'b':
      return { to: wordBefore.exec(text.slice(0, at))?.index ?? 0 };
    case '0':
      return { to: start };
    case '^':
      return { to: after(/^[ \t]*/, text, start) };
    case '$':
      return { to: Math.max(start, previousPosition(text, end)), reach: 'inclusive' };
    case 'gg':
      return { to: 0, reach: 'lines' };
    case 'G':
      return { to: lineStart(text, text.length), reach: 'lines' };
    default:
      return find(text.slice(start, end), at - start, start, motion);
  }
}

/** Returns the position after what a pattern matches. */
function after(pattern: RegExp, text: string, at: number): number {
  return at + (pattern.exec(text.slice(at))?.[0].length ?? 0);
}

/** Finds a character in the line for `f`, `t`, `F` and `T`. */
function find(
  line: string,
  column: number,
  start: number,
  [kind = '', ...letter]: string,
): Target | undefined {
  if (!/[fFtT]/.test(kind)) return undefined;
  const sign = letter.join('');
  if (kind === 'f' || kind === 't') {
    const found = line.indexOf(sign, column + 1);
    return found === -1 ? undefined : { to: start + found - (kind === 't' ? 1 : 0), reach: 'inclusive' };
  }
  const found = line.slice(0, column).lastIndexOf(sign);
  return found === -1 ? undefined : { to: start + found + (kind === 'T' ? sign.length : 0) };
}

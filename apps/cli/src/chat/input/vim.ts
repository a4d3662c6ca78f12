import type { ChatKey } from './key.ts';
import type { EditorState } from './line-editor.ts';
import { edit, insert, lineEnd, lineStart, nextPosition, previousPosition, remove } from './line-editor.ts';

const word = '[\\p{L}\\p{N}\\p{M}_]+|[^\\p{L}\\p{N}\\p{M}_\\s]+';
const thisWord = new RegExp(`^(?:${word}|\\s+)`, 'u');
const nextWord = new RegExp(`^(?:${word})?\\s*`, 'u');
const wordEnd = new RegExp(`^\\s*(?:${word})`, 'u');
const wordBefore = new RegExp(`(?:${word})\\s*$`, 'u');

/** Where each motion leads. */
const motions: Readonly<Record<string, (text: string, cursor: number) => number>> = {
  h: (text, cursor) => Math.max(lineStart(text, cursor), previousPosition(text, cursor)),
  l: (text, cursor) => Math.min(lineEnd(text, cursor), nextPosition(text, cursor)),
  j: (text, cursor) => edit({ text, cursor }, { type: 'down' }).cursor,
  k: (text, cursor) => edit({ text, cursor }, { type: 'up' }).cursor,
  w: (text, cursor) => after(nextWord, text, cursor),
  e: (text, cursor) => previousPosition(text, after(wordEnd, text, nextPosition(text, cursor))),
  b: (text, cursor) => wordBefore.exec(text.slice(0, cursor))?.index ?? 0,
  0: lineStart,
  '^': (text, cursor) => after(/^[ \t]*/, text, lineStart(text, cursor)),
  $: (text, cursor) => Math.max(lineStart(text, cursor), previousPosition(text, lineEnd(text, cursor))),
  gg: () => 0,
  G: (text) => lineStart(text, text.length),
};

/** The state in which each command begins to insert. */
const inserts: Readonly<Record<string, (state: EditorState) => EditorState>> = {
  i: (state) => state,
  a: (state) => at(state, motions['l']),
  I: (state) => at(state, motions['^']),
  A: (state) => at(state, lineEnd),
  o: (state) => insert(at(state, lineEnd), '\n'),
  O: (state) => at(insert(at(state, lineStart), '\n'), motions['k']),
};

/** Commands that are short for an operator and a motion. */
const short: Readonly<Record<string, string>> = { x: 'dl', D: 'd$', C: 'c$' };

/** An operator, and a motion or a command, some with a character; and the start of these. */
const whole = /^([dcy]?)(gg|[fFtTr][\s\S]|[\s\S])$/u;
const partial = /^[dcy]?[gfFtTr]?$/;

const maxUndo = 100;

/** The keys of Vim for the input: insert and normal mode, motions, operators and an undo. */
export class VimKeys {
  mode: 'insert' | 'normal' = 'insert';
  #typed = '';
  #register = { text: '', isLines: false };
  readonly #undo: EditorState[] = [];

  /** Returns the state after a key, or the key that the editor must handle as without Vim. */
  key(state: EditorState, key: ChatKey): EditorState | ChatKey {
    if (key.type === 'escape') {
      this.#typed = '';
      const next = this.mode === 'insert' ? at(state, motions['h']) : state;
      this.mode = 'normal';
      return next;
    }
    if (this.mode === 'insert') return key;
    if (key.type === 'backspace') return { type: 'left' };
    if (key.type !== 'text') return key;
    let current = state;
    const letters = [...key.text];
    for (const [index, letter] of letters.entries()) {
      // Letters that arrive together after a command that inserts belong to the text.
      if (this.mode !== 'normal') return insert(current, letters.slice(index).join(''));
      const next = this.#letter(current, letter);
      if ('type' in next) return next;
      current = next;
    }
    return current;
  }

  #letter(state: EditorState, letter: string): EditorState | ChatKey {
    this.#typed += letter;
    if (partial.test(this.#typed)) return state;
    const typed = short[this.#typed] ?? this.#typed;
    this.#typed = '';
    if (typed === 'j' || typed === 'k') return { type: typed === 'j' ? 'down' : 'up' };
    const [, operator = '', command = ''] = whole.exec(typed) ?? [];
    const next = operator === '' ? this.#command(state, command) : this.#operate(state, operator, command);
    // In normal mode, the cursor is on a character, not behind the last one of its line.
    const isBehind = this.mode === 'normal' && next.cursor === lineEnd(next.text, next.cursor);
    return isBehind ? at(next, motions['h']) : next;
  }

  #command(state: EditorState, command: string): EditorState {
    const begin = inserts[command];
    if (begin !== undefined) return this.#insert(state, begin(state));
    if (command === 'u') return this.#undo.pop() ?? state;
    if (command === 'p' || command === 'P') return this.#put(state, command === 'p');
    const { text, cursor } = state;
    if (!command.startsWith('r')) return { text, cursor: targetOf(state, command) ?? cursor };
    if (cursor === lineEnd(text, cursor)) return state;
    this.#remember(state);
    return {
      text: text.slice(0, cursor) + command.slice(1) + text.slice(nextPosition(text, cursor)),
      cursor,
    };
  }

  #operate(state: EditorState, operator: string, motion: string): EditorState {
    const { text, cursor } = state;
    const isLines = motion === operator || /^[jkgG]/.test(motion);
    // As in Vim, changing a word leaves the blanks after it.
    const isWord = operator === 'c' && motion === 'w';
    const target = isWord
      ? after(thisWord, text, cursor)
      : targetOf(state, motion === operator ? '0' : motion);
    if (target === undefined) return state;
    let from = Math.min(cursor, target);
    let end = Math.max(cursor, target);
    if (/^[eft$]/.test(motion)) end = Math.min(lineEnd(text, end), nextPosition(text, end));
    if (isLines) [from, end] = [lineStart(text, from), lineEnd(text, end)];
    this.#register = { text: text.slice(from, end), isLines };
    if (operator === 'y') return { text, cursor: isLines ? cursor : from };
    if (operator === 'c') return this.#insert(state, remove(state, from, end));
    this.#remember(state);
    if (!isLines) return remove(state, from, end);
    // A line is removed with one of the line breaks around it.
    const rest = end < text.length ? remove(state, from, end + 1) : remove(state, Math.max(0, from - 1), end);
    return at(rest, lineStart);
  }

  #put(state: EditorState, isAfter: boolean): EditorState {
    const { text, isLines } = this.#register;
    this.#remember(state);
    if (!isLines) {
      const { text: all, cursor } = insert(isAfter ? at(state, motions['l']) : state, text);
      return { text: all, cursor: Math.max(0, cursor - 1) };
    }
    const more = isAfter
      ? insert(at(state, lineEnd), `\n${text}`)
      : insert(at(state, lineStart), `${text}\n`);
    return { ...more, cursor: more.cursor - text.length - (isAfter ? 0 : 1) };
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

/** Moves the cursor. */
function at(
  { text, cursor }: EditorState,
  motion: ((text: string, cursor: number) => number) | undefined,
): EditorState {
  return { text, cursor: motion?.(text, cursor) ?? cursor };
}

/** Returns where a motion leads; undefined if it leads nowhere. `f`, `t`, `F` and `T` search for a character in the line. */
function targetOf({ text, cursor }: EditorState, motion: string): number | undefined {
  if (!/^[fFtT]./su.test(motion)) return motions[motion]?.(text, cursor);
  const [kind = '', sign = ''] = motion;
  const isBack = kind === 'F' || kind === 'T';
  const start = lineStart(text, cursor);
  const line = text.slice(start, isBack ? cursor : lineEnd(text, cursor));
  const found = isBack ? line.lastIndexOf(sign) : line.indexOf(sign, cursor - start + 1);
  if (found === -1) return undefined;
  return start + found + (kind === 't' ? -1 : kind === 'T' ? sign.length : 0);
}

/** Returns the position after what a pattern matches. */
function after(pattern: RegExp, text: string, cursor: number): number {
  return cursor + (pattern.exec(text.slice(cursor))?.[0].length ?? 0);
}

import type { Clock, RawKeyboard } from '../../terminal/io.ts';
import type { ChatKey, KeyName } from './key.ts';

/** The decoded keys, and the start of an incomplete one. */
export interface DecodedKeys {
  readonly keys: readonly ChatKey[];
  /** Input to put before the next chunk. */
  readonly held: string;
}

const pasteBegins = '\x1b[200~';
const pasteEnds = '\x1b[201~';

const controls: Readonly<Record<string, KeyName>> = {
  '\r': 'enter',
  '\n': 'newline',
  '\t': 'tab',
  '\x7f': 'backspace',
  '\b': 'backspace',
  '\x01': 'home',
  '\x02': 'left',
  '\x03': 'interrupt',
  '\x04': 'end_of_input',
  '\x05': 'end',
  '\x06': 'right',
  '\x0b': 'delete_to_end',
  '\x0c': 'redraw',
  '\x0e': 'down',
  '\x0f': 'expand',
  '\x10': 'up',
  '\x12': 'search',
  '\x15': 'delete_to_start',
  '\x16': 'paste_image',
  '\x17': 'delete_word',
  '\x1a': 'suspend',
};

/** Escape sequences without the ESC, as xterm and compatible terminals send them. */
const sequences: Readonly<Record<string, KeyName>> = {
  '[A': 'up',
  '[B': 'down',
  '[C': 'right',
  '[D': 'left',
  '[H': 'home',
  '[F': 'end',
  OA: 'up',
  OB: 'down',
  OC: 'right',
  OD: 'left',
  OH: 'home',
  OF: 'end',
  '[1~': 'home',
  '[7~': 'home',
  '[4~': 'end',
  '[8~': 'end',
  '[3~': 'delete',
  '[Z': 'back_tab',
  '[I': 'focus',
  '[O': 'blur',
  '[1;5C': 'word_right',
  '[1;3C': 'word_right',
  '[1;5D': 'word_left',
  '[1;3D': 'word_left',
  '[13;2u': 'newline',
  '[13;3u': 'newline',
  '[27;2;13~': 'newline',
  '[27;3;13~': 'newline',
  '\r': 'newline',
  '\n': 'newline',
  b: 'word_left',
  f: 'word_right',
  d: 'delete_to_end',
  '\x7f': 'delete_word',
  '\b': 'delete_word',
};

/** A complete escape sequence: CSI, SS3, or ESC and one character. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: keys are control characters.
const wholeSequence = /^\x1b(\[[0-?]*[ -/]*[@-~]|O[\s\S]|[^[O])/;

/**
 * Decodes a chunk of raw terminal input, together with what remained of the previous one. Pasted text is one key. A
 * trailing ESC is held back: it may start a sequence, or be a key of its own, which {@link heldKeys} returns.
 */
export function decodeKeys(held: string, chunk: string): DecodedKeys {
  let rest = held + chunk;
  const keys: ChatKey[] = [];
  while (rest !== '') {
    if (rest.startsWith(pasteBegins)) {
      const end = rest.indexOf(pasteEnds);
      if (end === -1) break;
      keys.push({ type: 'paste', text: rest.slice(pasteBegins.length, end).replaceAll(/\r\n?/g, '\n') });
      rest = rest.slice(end + pasteEnds.length);
    } else if (rest.startsWith('\x1b')) {
      const whole = wholeSequence.exec(rest);
      if (whole === null) break;
      keys.push({ type: sequences[whole[1] ?? ''] ?? 'other' });
      rest = rest.slice(whole[0].length);
    } else {
      const { key, length } = plainKey(rest);
      keys.push(key);
      rest = rest.slice(length);
    }
  }
  return { keys, held: rest };
}

/** Returns the held input as keys, for use when no more input follows for a moment. An unfinished paste stays held. */
export function heldKeys(held: string): DecodedKeys {
  if (held === '' || held.startsWith(pasteBegins)) return { keys: [], held };
  return { keys: [{ type: held === '\x1b' ? 'escape' : 'other' }], held: '' };
}

/** Combines letters that arrive together into one key, so that fast typing redraws only once. */
function plainKey(rest: string): { key: ChatKey; length: number } {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: everything but control characters is text.
  const letters = /^[^\x00-\x1f\x7f]+/.exec(rest)?.[0];
  if (letters !== undefined) return { key: { type: 'text', text: letters }, length: letters.length };
  return { key: { type: controls[rest[0] ?? ''] ?? 'other' }, length: 1 };
}

/** An ESC without further input for this time is a key, in milliseconds. */
const escapeMs = 60;

/**
 * Returns input that was typed before the chat started reading. The terminal processed it as a line and added a line
 * end, which is removed here so that the user sees the text before sending it.
 */
function trimLineEnd(chunk: string): string {
  return chunk === '\n' ? chunk : chunk.replace(/\n+$/, '');
}

/** Sends each key of a keyboard to the listener. Returns a function that stops it. */
export function readKeys(
  keyboard: RawKeyboard,
  clock: Clock,
  onKeys: (keys: readonly ChatKey[]) => void,
): () => void {
  let held = '';
  let isFirst = true;
  let stop = () => {};
  keyboard.listen((chunk) => {
    stop();
    const decoded = decodeKeys(held, isFirst ? trimLineEnd(chunk) : chunk);
    isFirst = false;
    held = decoded.held;
    stop = clock.after(escapeMs, () => {
      const rest = heldKeys(held);
      held = rest.held;
      onKeys(rest.keys);
    });
    onKeys(decoded.keys);
  });
  return () => {
    keyboard.listen(() => undefined);
    stop();
  };
}

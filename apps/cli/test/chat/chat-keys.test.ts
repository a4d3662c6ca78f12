import { describe, expect, test } from 'vitest';
import type { ChatKey } from '../../src/chat/input/key.ts';
import { decodeKeys, heldKeys } from '../../src/chat/input/key-decoder.ts';
import type { EditorState } from '../../src/chat/input/line-editor.ts';
import { brokenLine, edit, editorWith, emptyEditor } from '../../src/chat/input/line-editor.ts';

function keysIn(...chunks: readonly string[]): ChatKey[] {
  const keys: ChatKey[] = [];
  let held = '';
  for (const chunk of chunks) {
    const decoded = decodeKeys(held, chunk);
    keys.push(...decoded.keys);
    held = decoded.held;
  }
  return keys;
}

describe('keys', () => {
  test.each([
    ['\r', 'enter'],
    ['\n', 'newline'],
    ['\x1b\r', 'newline'],
    ['\x1b[13;2u', 'newline'],
    ['\x1b[A', 'up'],
    ['\x1bOB', 'down'],
    ['\x1b[1;5C', 'word_right'],
    ['\x1bb', 'word_left'],
    ['\x1b[3~', 'delete'],
    ['\x03', 'interrupt'],
    ['\x12', 'search'],
    ['\x1b[200;5~', 'other'],
    ['\x1b[<0;1;1M', 'other'],
  ] as const)('decodes %j as %s', (chunk, type) => {
    expect(keysIn(chunk)).toEqual([{ type }]);
  });

  test('decodes a sequence that is split at any position', () => {
    const whole = 'a\x1b[1;5D\x1b[200~x\ry\x1b[201~b\x1b\r';
    const keys = keysIn(whole);
    expect(keys).toEqual([
      { type: 'text', text: 'a' },
      { type: 'word_left' },
      { type: 'paste', text: 'x\ny' },
      { type: 'text', text: 'b' },
      { type: 'newline' },
    ]);
    for (let cut = 1; cut < whole.length; cut += 1) {
      expect(keysIn(whole.slice(0, cut), whole.slice(cut)), String(cut)).toEqual(keys);
    }
  });

  test('decodes ESC as a key when nothing follows it, and keeps an incomplete paste', () => {
    expect(heldKeys(decodeKeys('', '\x1b').held)).toEqual({ keys: [{ type: 'escape' }], held: '' });
    const { held } = decodeKeys('', '\x1b[200~half');
    expect(heldKeys(held)).toEqual({ keys: [], held });
  });

  test('decodes all pasted characters as text', () => {
    expect(keysIn('\x1b[200~\x03/exit\r\x1b[201~')).toEqual([{ type: 'paste', text: '\x03/exit\n' }]);
  });
});

const named = new Set<string>(
  'left right up down home end newline backspace delete delete_word delete_to_end delete_to_start word_left'.split(
    ' ',
  ),
);

/** Applies keys to the editor and returns its text, with `|` at the cursor. */
function typed(begin: EditorState, ...keys: readonly string[]): string {
  const { text, cursor } = keys.reduce<EditorState>((state, key) => {
    return edit(state, named.has(key) ? ({ type: key } as ChatKey) : { type: 'text', text: key });
  }, begin);
  return `${text.slice(0, cursor)}|${text.slice(cursor)}`;
}

describe('the line editor', () => {
  test.each([
    [['ab', 'left', 'c'], 'ac|b'],
    [['a', 'b', 'backspace'], 'a|'],
    [['one two', 'delete_word'], 'one |'],
    [['one two', 'word_left', 'delete_to_end'], 'one |'],
    [['one two', 'home', 'delete'], '|ne two'],
    [['ab', 'newline', 'c', 'up', 'x'], 'ax|b\nc'],
    [['ab', 'newline', 'c', 'up', 'end', 'down', 'end'], 'ab\nc|'],
    [['ab', 'newline', 'cd', 'delete_to_start'], 'ab\n|'],
    [['up', 'down', 'left', 'right', 'backspace', 'delete'], '|'],
  ] as const)('%j gives %j', (keys, outcome) => {
    expect(typed(emptyEditor, ...keys)).toBe(outcome);
  });

  test('treats a character of several code points as one character', () => {
    expect(typed(editorWith('a👨‍👩‍👧e\u0301'), 'backspace')).toBe('a👨‍👩‍👧|');
    expect(typed(editorWith('a👨‍👩‍👧'), 'backspace')).toBe('a|');
    expect(typed(editorWith('日本'), 'left', 'x')).toBe('日x|本');
  });

  test('replaces a backslash before Enter with a line break', () => {
    expect(brokenLine(editorWith('one\\'))).toEqual({ text: 'one\n', cursor: 4 });
    expect(brokenLine(editorWith('one'))).toBeUndefined();
  });
});

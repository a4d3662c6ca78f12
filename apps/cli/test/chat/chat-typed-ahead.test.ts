import { expect, test } from 'vitest';
import type { ChatKey } from '../../src/chat/input/key.ts';
import { readKeys } from '../../src/chat/input/key-reader.ts';

/** The keys that a keyboard gives which sends these chunks, none of which ends in an ESC. */
function keysOf(...chunks: readonly string[]): ChatKey[] {
  const keys: ChatKey[] = [];
  const keyboard = {
    listen: (listener: (chunk: string) => void) => chunks.forEach(listener),
    suspend: () => undefined,
    close: () => undefined,
  };
  readKeys(keyboard, { now: () => 0, after: () => () => undefined }, (some) => keys.push(...some));
  return keys;
}

test('what was typed before the chat could read is kept as text, without the end of its line', () => {
  expect(keysOf('hello there\n')).toEqual([{ type: 'text', text: 'hello there' }]);
  expect(keysOf('one\ntwo\n\n').map(({ type }) => type)).toEqual(['text', 'newline', 'text']);
});

test('a new line that is typed in the chat is one, alone or not the first', () => {
  expect(keysOf('\n')).toEqual([{ type: 'newline' }]);
  expect(keysOf('a', '\n', 'b\n').map(({ type }) => type)).toEqual(['text', 'newline', 'text', 'newline']);
});

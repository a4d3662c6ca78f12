import { expect, test } from 'vitest';
import type { ChatKey } from '../../src/chat/input/key.ts';
import { readKeys } from '../../src/chat/input/key-decoder.ts';

/** Returns the keys decoded from the chunks, none of which ends in ESC. */
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

test('keeps input typed before the chat starts as text, without its final newline', () => {
  expect(keysOf('hello there\n')).toEqual([{ type: 'text', text: 'hello there' }]);
  expect(keysOf('one\ntwo\n\n').map(({ type }) => type)).toEqual(['text', 'newline', 'text']);
});

test('decodes a newline typed in the chat, alone or after other input', () => {
  expect(keysOf('\n')).toEqual([{ type: 'newline' }]);
  expect(keysOf('a', '\n', 'b\n').map(({ type }) => type)).toEqual(['text', 'newline', 'text', 'newline']);
});

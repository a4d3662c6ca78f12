import type { Clock, RawKeyboard } from '../../terminal/io.ts';
import type { ChatKey } from './key.ts';
import { decodeKeys, heldKeys } from './key-decoder.ts';

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

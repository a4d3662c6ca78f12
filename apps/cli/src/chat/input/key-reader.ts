import type { Clock, RawKeyboard } from '../../terminal/io.ts';
import type { ChatKey } from './key.ts';
import { decodeKeys, heldKeys } from './key-decoder.ts';

/** After this long an ESC alone was a key, in milliseconds. */
const escapeMs = 60;

/**
 * Input typed before the chat started reading: the terminal still processed it as a line and added a line end. It is
 * kept without that line end, so that the user sees it before sending it.
 */
function typedAhead(chunk: string): string {
  return chunk === '\n' ? chunk : chunk.replace(/\n+$/, '');
}

/** Tells the keys that come from a keyboard, as they come. Returns what stops it. */
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
    const decoded = decodeKeys(held, isFirst ? typedAhead(chunk) : chunk);
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

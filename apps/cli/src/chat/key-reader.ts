import type { Clock, RawKeyboard } from '../io.ts';
import type { ChatKey } from './key.ts';
import { decodeKeys, heldKeys } from './key-decoder.ts';

/** After this long an ESC alone was a key, in milliseconds. */
const escapeMs = 60;

/** Tells the keys that come from a keyboard, as they come. Returns what stops it. */
export function readKeys(
  keyboard: RawKeyboard,
  clock: Clock,
  onKeys: (keys: readonly ChatKey[]) => void,
): () => void {
  let held = '';
  let stop = () => {};
  keyboard.listen((chunk) => {
    stop();
    const decoded = decodeKeys(held, chunk);
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

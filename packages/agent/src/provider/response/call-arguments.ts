import { summarize } from '../../values/errors.ts';
import { isObject } from '../../values/json.ts';
import { wellFormedJson } from '../../values/unicode.ts';

/** Most bytes of one call's arguments: 1 MiB. */
export const maxArgumentBytes: number = 1024 * 1024;

/** Deepest nesting of one call's arguments. */
export const maxArgumentDepth = 64;

/** Usable arguments, or none and the reason in words for the model. */
export interface CallArguments {
  readonly arguments: Record<string, unknown>;
  readonly problem?: string;
}

/**
 * Reads the JSON text of a call's arguments. Text that is broken in any way is never mended: a guessed
 * argument is worse than none. Empty text means no arguments.
 */
export function parseArguments(text: string): CallArguments {
  if (isTooLarge(text)) return unusable('The arguments are larger than 1 MiB. Send less in one call.');
  if (text.trim() === '') return { arguments: {} };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return unusable(`The arguments are not valid JSON: ${summarize(error).message}`);
  }
  if (!isObject(value)) return unusable('The arguments are not a JSON object.');
  const flaw = flawOf(value);
  if (flaw !== undefined) return unusable(flaw);
  // Only an escape can bring half a surrogate pair into text that was decoded from UTF-8.
  const suspicious = !text.isWellFormed() || /\\u[dD]/.test(text);
  return { arguments: suspicious ? (wellFormedJson(value) as Record<string, unknown>) : value };
}

/** Arguments that must not be used. */
export function unusable(problem: string): CallArguments {
  return { arguments: {}, problem };
}

function isTooLarge(text: string): boolean {
  if (text.length > maxArgumentBytes) return true;
  // A UTF-16 unit takes at most three bytes, so most texts need not be encoded to be measured.
  return text.length * 3 > maxArgumentBytes && new TextEncoder().encode(text).length > maxArgumentBytes;
}

/** Walks with a list of its own instead of recursion, so that no nesting can overflow the stack. */
function flawOf(root: object): string | undefined {
  let level: object[] = [root];
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > maxArgumentDepth) return `The arguments are nested deeper than ${maxArgumentDepth} levels.`;
    const below: object[] = [];
    for (const value of level) {
      if (Object.hasOwn(value, '__proto__')) return 'The arguments contain the forbidden key "__proto__".';
      for (const item of Object.values(value)) {
        if (typeof item === 'object' && item !== null) below.push(item);
        // JSON has no such number, but what is too large for one becomes it, and would be sent on as null.
        else if (item === Number.POSITIVE_INFINITY || item === Number.NEGATIVE_INFINITY)
          return 'The arguments contain a number that is too large.';
      }
    }
    level = below;
  }
  return undefined;
}

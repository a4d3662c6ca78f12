import { AgentError } from './errors.ts';
import { clip } from './json.ts';

/**
 * Creates the error for an invalid value from a caller.
 *
 * @param where the path of the value, such as `prompt[2].role`.
 * @param advice what to use instead, without a final period.
 */
export function invalidValue(code: string, where: string, value: unknown, advice: string): AgentError {
  const message = `${where} is invalid: it is ${shown(value)}. ${advice}.`;
  return new AgentError({ kind: 'invalid', code, message });
}

/** Formats a value for an error: strings are quoted and truncated, other values are described by their type. */
function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(clip(value, 40));
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object' && value !== null) return 'an object';
  return typeof value === 'function' ? 'a function' : String(value);
}

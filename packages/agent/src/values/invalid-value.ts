import { AgentError } from './errors.ts';

/**
 * The error of a value from a caller that cannot be used.
 *
 * @param where the path of the value, such as `prompt[2].role`.
 * @param advice what to write there, without a final period.
 */
export function invalidValue(code: string, where: string, value: unknown, advice: string): AgentError {
  const message = `${where} is invalid: it is ${shown(value)}. ${advice}.`;
  return new AgentError({ kind: 'invalid', code, message });
}

/** A wrong value in an error: texts are quoted and cut, anything else is named by its kind. */
function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value);
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object' && value !== null) return 'an object';
  return typeof value === 'function' ? 'a function' : String(value);
}

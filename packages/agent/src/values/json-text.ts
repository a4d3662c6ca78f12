import { AgentError } from './errors.ts';

/** Maximum size in bytes of a step result, signal, input or output as UTF-8 JSON; every engine accepts this size. */
export const maxResultBytes: number = 1_048_576;

/**
 * Converts a value to JSON for later readers and other processes. Fields that are undefined are omitted, as in JSON;
 * any other value that JSON would change is rejected.
 * @param what names the value in messages, such as `The result of step "t1/model"`.
 * @throws AgentError `invalid`, code `not_json` or `too_large`.
 */
export function plainJson(value: unknown, what: string): string {
  const text = textOf(value, what);
  if (bytesUpTo(text, maxResultBytes) <= maxResultBytes) return text;
  const message = `${what} is larger than ${maxResultBytes} bytes as JSON. Store large data elsewhere and pass a reference to it.`;
  throw new AgentError({ kind: 'invalid', code: 'too_large', message });
}

function textOf(value: unknown, what: string): string {
  try {
    const odd = oddity(value, '');
    if (odd === undefined) return JSON.stringify(value);
    throw notJson(`${what} contains ${odd}, which JSON cannot represent.`);
  } catch (error) {
    if (AgentError.is(error)) throw error;
    // A cycle, nesting that exhausts the stack, or an accessor that throws.
    throw notJson(
      `${what} cannot be converted to JSON: it is circular or nested too deeply, or reading it fails.`,
    );
  }
}

function notJson(message: string): AgentError {
  return new AgentError({ kind: 'invalid', code: 'not_json', message });
}

/** Returns a description of the first value that JSON would lose or change. */
function oddity(value: unknown, path: string): string | undefined {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return undefined;
    case 'number':
      return Number.isFinite(value) ? undefined : `${value}${at(path)}`;
    case 'object':
      return value === null ? undefined : oddityIn(value, path);
    default:
      return `${typeof value === 'undefined' ? 'undefined' : `a ${typeof value}`}${at(path)}`;
  }
}

function oddityIn(value: object, path: string): string | undefined {
  if (Array.isArray(value)) {
    // By index, to find holes, which JSON cannot represent.
    for (let index = 0; index < value.length; index += 1) {
      const found = oddity(value[index], `${path}[${index}]`);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  // The prototype of a plain object from another realm has no prototype itself.
  const isPlain = prototype === null || Object.getPrototypeOf(prototype) === null;
  if (!isPlain || 'toJSON' in value) return `an object that is not a plain object${at(path)}`;
  for (const [key, item] of Object.entries(value)) {
    if (item === undefined) continue;
    const found = oddity(item, `${path}.${key}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

function at(path: string): string {
  return path === '' ? '' : ` at ${path.slice(0, 200)}`;
}

/** Returns the length in UTF-8, or some number above `limit` without encoding. */
function bytesUpTo(text: string, limit: number): number {
  if (text.length > limit || text.length * 3 <= limit) return text.length;
  return new TextEncoder().encode(text).byteLength;
}

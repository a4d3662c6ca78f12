import { AgentError } from './errors.ts';

/** Most bytes that a step's result, a signal, an input or an output has as JSON in UTF-8: what every engine takes. */
export const maxResultBytes: number = 1_048_576;

/**
 * A value as JSON text, for later readers and other processes. Fields that are undefined are left out, as JSON
 * does; everything else that would come back as something else is refused.
 * @param what names the value in messages, such as `the result of step "t1/model"`.
 * @throws AgentError `invalid`, code `not_json` or `too_large`.
 */
export function plainJson(value: unknown, what: string): string {
  const text = textOf(value, what);
  if (bytesUpTo(text, maxResultBytes) <= maxResultBytes) return text;
  const message = `${what} has more than ${maxResultBytes} bytes as JSON; keep what is large elsewhere and give a reference to it.`;
  throw new AgentError({ kind: 'invalid', code: 'too_large', message });
}

function textOf(value: unknown, what: string): string {
  try {
    const odd = oddity(value, '');
    if (odd === undefined) return JSON.stringify(value);
    throw notJson(`${what} holds ${odd}, which JSON has no form for.`);
  } catch (error) {
    if (AgentError.is(error)) throw error;
    // A cycle or a depth that exhausts the stack, or an accessor that throws.
    throw notJson(`${what} cannot be written as JSON: it is nested without end, or reading it fails.`);
  }
}

function notJson(message: string): AgentError {
  return new AgentError({ kind: 'invalid', code: 'not_json', message });
}

/** The first thing in a value that JSON would lose or change, in words. */
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
      return `${typeof value === 'undefined' ? 'nothing' : `a ${typeof value}`}${at(path)}`;
  }
}

function oddityIn(value: object, path: string): string | undefined {
  if (Array.isArray(value)) {
    // By index: a hole is not an item that JSON could keep.
    for (let index = 0; index < value.length; index += 1) {
      const found = oddity(value[index], `${path}[${index}]`);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  // Plain objects of another realm have a prototype that has none itself.
  const isPlain = prototype === null || Object.getPrototypeOf(prototype) === null;
  if (!isPlain || 'toJSON' in value) return `an object that is not plain${at(path)}`;
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

/** Length in UTF-8, or a larger number than `most` without counting. */
function bytesUpTo(text: string, most: number): number {
  if (text.length > most || text.length * 3 <= most) return text.length;
  return new TextEncoder().encode(text).byteLength;
}

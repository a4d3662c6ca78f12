import { isObject } from '../values/json.ts';

/** The error of a contract case whose condition does not hold. Test runners show its message. */
export class ContractFailure extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ContractFailure';
  }
}

/** Fails unless the condition holds. `what` completes the sentence "expected ...". */
export function expect(condition: boolean, what: string): asserts condition {
  if (!condition) throw new ContractFailure(`expected ${what}`);
}

/** Fails unless both are deeply equal. A missing field and an undefined one are equal. */
export function expectEqual(actual: unknown, expected: unknown, what: string): void {
  const place = difference(actual, expected, '');
  if (place === undefined) return;
  throw new ContractFailure(
    `${what}${place.path === '' ? '' : ` at ${place.path}`}: expected ${show(place.expected)}, found ${show(place.actual)}`,
  );
}

/** Fails unless the value is one of the allowed ones. */
export function expectOneOf<Value>(actual: Value, allowed: readonly Value[], what: string): void {
  if (allowed.includes(actual)) return;
  throw new ContractFailure(`${what}: expected ${allowed.map(show).join(' or ')}, found ${show(actual)}`);
}

/** Formats a value in one line of limited length. */
export function show(value: unknown): string {
  if (value === undefined) return 'nothing';
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 400 ? `${text.slice(0, 300)} … ${text.slice(-60)}` : text;
}

interface Difference {
  readonly path: string;
  readonly actual: unknown;
  readonly expected: unknown;
}

/** Returns the first location at which two plain values differ. */
function difference(actual: unknown, expected: unknown, path: string): Difference | undefined {
  if (Object.is(actual, expected)) return undefined;
  if (Array.isArray(actual) && Array.isArray(expected)) return arrayDifference(actual, expected, path);
  if (isObject(actual) && isObject(expected)) {
    for (const key of new Set([...Object.keys(actual), ...Object.keys(expected)])) {
      const found = difference(own(actual, key), own(expected, key), `${path}.${key}`);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  return { path, actual, expected };
}

function arrayDifference(actual: readonly unknown[], expected: readonly unknown[], path: string) {
  if (actual.length !== expected.length) return { path, actual, expected };
  for (const [index, item] of actual.entries()) {
    const found = difference(item, expected[index], `${path}[${index}]`);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Returns an own field; inherited fields are ignored, because an argument may be named `constructor`. */
function own(value: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(value, key) ? value[key] : undefined;
}

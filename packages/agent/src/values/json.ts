/** Any value that JSON preserves unchanged. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** A JSON object. */
export type JsonObject = { [key: string]: Json };

/** Returns true for objects that are neither null nor an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns a copy whose keys are in order, so that equal values have equal JSON. */
export function sortedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedKeys);
  if (!isObject(value)) return value;
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, sortedKeys(value[key])]));
}

/** Maximum length of an array that is read item by item. */
export const maxItems = 10_000_000;

/** Returns whether a value is an array too long to be written, such as a sparse one of the maximum length. */
export function isEndless(value: unknown): boolean {
  return Array.isArray(value) && value.length > maxItems;
}

/** Returns a deep copy of plain data. Values that JSON cannot represent are not copied. */
export function copyOf<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(copyOf) as Value;
  // Spreading copies a key such as `__proto__`, which an assignment to a new object does not.
  const copy = { ...value };
  for (const name in copy) if (typeof copy[name] === 'object') copy[name] = copyOf(copy[name]);
  return copy;
}

/** Shortens a text, such as JSON for a message, to a number of characters, and marks the cut. */
export function clip(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}…` : text;
}

/** Returns the value of a JSON text; undefined for any other text. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns the object of a JSON text; undefined for any other text. */
export function parsedObject(text: string): JsonObject | undefined {
  const value = parsedJson(text);
  return isObject(value) ? (value as JsonObject) : undefined;
}

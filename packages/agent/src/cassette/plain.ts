import type { Json, JsonObject } from '../values/json.ts';

/**
 * Returns a value as JSON would store it; undefined becomes null.
 * @throws whatever JSON.stringify throws, for example for a cycle.
 */
export function plain(value: unknown): Json {
  const text = JSON.stringify(value);
  return text === undefined ? null : (JSON.parse(text) as Json);
}

/** Returns an object as JSON would store it, or an object that describes the error if JSON cannot store it. */
export function plainFields(value: object): JsonObject {
  try {
    return plain(value) as JsonObject;
  } catch (error) {
    return { unwritable: String(error) };
  }
}

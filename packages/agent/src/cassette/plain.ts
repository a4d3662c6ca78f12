import type { Json, JsonObject } from '../values/json.ts';

/**
 * What JSON keeps of a value; nothing at all becomes null.
 * @throws whatever JSON.stringify throws, as for a cycle.
 */
export function plain(value: unknown): Json {
  const text = JSON.stringify(value);
  return text === undefined ? null : (JSON.parse(text) as Json);
}

/** What JSON keeps of an object's fields. One that JSON cannot hold is described. */
export function plainFields(value: object): JsonObject {
  try {
    return plain(value) as JsonObject;
  } catch (error) {
    return { unwritable: String(error) };
  }
}

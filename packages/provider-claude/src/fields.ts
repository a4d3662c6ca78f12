/** A JSON object of unknown content. */
export type Fields = Readonly<Record<string, unknown>>;

/** Returns true for objects that are neither null nor an array. */
export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the value as an object; an empty one for anything else, so that reading never throws. */
export function fieldsOf(value: unknown): Fields {
  // Written out, because it is called for each event.
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

/** Returns the value as a list; an empty one for anything else. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns the value as a string; an empty one for anything else. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

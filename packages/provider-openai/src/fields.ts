/** A JSON object of unknown content. */
export type Fields = Readonly<Record<string, unknown>>;

/** Returns true for objects that are neither null nor an array. */
export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns a string field; an empty string for anything else. */
export function textIn(fields: Fields, name: string): string {
  const value = fields[name];
  return typeof value === 'string' ? value : '';
}

/** Returns a string field if it is not empty. */
export function withDefaults(fields: Fields, name: string): string | undefined {
  const text = textIn(fields, name);
  return text === '' ? undefined : text;
}

/** Returns the objects in a list; none for anything else. */
export function objectsIn(fields: Fields, name: string): readonly Fields[] {
  const value = fields[name];
  return Array.isArray(value) ? value.filter(isFields) : [];
}

/** Returns whether two texts are equal, or the same JSON written in different ways. */
export function isSameJson(left: string, right: string): boolean {
  return left === right || compact(left) === compact(right);
}

function compact(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return text;
  }
}

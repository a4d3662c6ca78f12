/** A JSON object of unknown content. */
export type Fields = Readonly<Record<string, unknown>>;

/** Returns true for objects that are neither null nor an array. */
export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the value as an object; an empty one for anything else. */
export function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : {};
}

/** Returns a string field; an empty string for anything else. */
export function textIn(fields: Fields, name: string): string {
  const value = fields[name];
  return typeof value === 'string' ? value : '';
}

/** Returns the objects in a list; none for anything else. */
export function objectsIn(fields: Fields, name: string): readonly Fields[] {
  const value = fields[name];
  return Array.isArray(value) ? value.filter(isFields) : [];
}

/** A JSON object of unknown content. */
export type Fields = Readonly<Record<string, unknown>>;

/** True for objects that are neither null nor an array. */
export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The text of a field; an empty one for anything else. */
export function textIn(fields: Fields, name: string): string {
  const value = fields[name];
  return typeof value === 'string' ? value : '';
}

/** The text of a field, when there is any. */
export function withDefaults(fields: Fields, name: string): string | undefined {
  const text = textIn(fields, name);
  return text === '' ? undefined : text;
}

/** The objects of a list; none for anything else. */
export function objectsIn(fields: Fields, name: string): readonly Fields[] {
  const value = fields[name];
  return Array.isArray(value) ? value.filter(isFields) : [];
}

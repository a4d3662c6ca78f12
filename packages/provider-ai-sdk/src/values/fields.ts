/** The fields of an object of unknown shape. */
export type Fields = Readonly<Record<string, unknown>>;

/** Returns true if this is an object with fields, not a list. */
export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the fields of a value; an empty object if it has none. */
export function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : {};
}

/** Returns the value if it is a non-empty string. */
export function textIn(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Returns the fields of a JSON object; an empty object for any other text. */
export function parsedFields(text: string): Fields {
  try {
    return fieldsOf(JSON.parse(text));
  } catch {
    return {};
  }
}

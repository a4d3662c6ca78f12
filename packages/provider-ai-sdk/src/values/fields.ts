/** The fields of an object of unknown shape. */
export type Fields = Readonly<Record<string, unknown>>;

/** True if this is an object with fields, not a list. */
export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The fields of a value, none when it has none. */
export function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : {};
}

/** A text that says something, or nothing. */
export function textIn(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The fields of the JSON object that this text is; none when it is anything else. */
export function parsedFields(text: string): Fields {
  try {
    return fieldsOf(JSON.parse(text));
  } catch {
    return {};
  }
}

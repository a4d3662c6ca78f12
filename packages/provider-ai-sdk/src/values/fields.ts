import { isObject } from '@cobbler/agent/provider';

/** The fields of an object of unknown shape. */
export type Fields = Readonly<Record<string, unknown>>;

/** Returns the fields of a value; an empty object if it has none. */
export function fieldsOf(value: unknown): Fields {
  return isObject(value) ? value : {};
}

/** Returns the items of a value; an empty list if it is not a list. */
export function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns the value if it is a non-empty string. */
export function textIn(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Returns the value if it is a number. */
export function numberIn(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

/** Returns the fields of a JSON object; an empty object for any other text. */
export function parsedFields(text: string): Fields {
  try {
    return fieldsOf(JSON.parse(text));
  } catch {
    return {};
  }
}

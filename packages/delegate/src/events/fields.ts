/** Fields of a JSON object that a program wrote; nothing else is known about it. */
export type Fields = Readonly<Record<string, unknown>>;

export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns the value if it is a string; an empty string for anything else. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/** Returns true if an object holds more than numbers and flags. */
export function holdsData(fields: Fields): boolean {
  return Object.values(fields).some((value) => Object.keys(value ?? {}).length > 0);
}

// Terminal color sequences before or after the JSON of a program.
// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences start with a control character.
const escapes = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\))/g;

/** Returns true if a line with this start should contain an object. */
export function beginsObject(head: string): boolean {
  return head.replace(escapes, '').trimStart().startsWith('{');
}

/** Returns the object in a line; undefined for anything else, which is ignored. */
export function objectIn(line: string): Fields | undefined {
  const bare = line.includes('\u001b') ? line.replace(escapes, '') : line;
  const text = bare.trim();
  if (!text.startsWith('{')) return undefined;
  try {
    return fieldsOf(JSON.parse(text));
  } catch {
    return undefined;
  }
}

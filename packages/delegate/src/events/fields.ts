/** Fields of something that a program wrote: nothing is known of it but that it was JSON. */
export type Fields = Readonly<Record<string, unknown>>;

export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Empty if it is not text. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

// What colours a terminal, in front of or behind what a program says in JSON.
// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one.
const escapes = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\))/g;

/** True if a line with this start should contain an object. */
export function beginsObject(head: string): boolean {
  return head.replace(escapes, '').trimStart().startsWith('{');
}

/** The object that a line holds; undefined for anything else, which is noise. */
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

/** Estimates the bytes of plain data from its texts. */
export function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 8;
  const fields = value as Record<string, unknown>;
  let size = 16;
  for (const name of Object.keys(fields)) {
    const field = fields[name];
    // Most fields are text, and a call costs more than looking at one.
    size += typeof field === 'string' ? field.length : sizeOf(field);
  }
  return size;
}

/** Estimates the bytes of plain data from its texts. */
export function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 8;
  const fields = value as Record<string, unknown>;
  let size = 16;
  for (const name of Object.keys(fields)) {
    const field = fields[name];
    // Most fields are texts and numbers, and a call costs more than looking at one.
    if (typeof field === 'string') size += field.length;
    else size += typeof field === 'object' && field !== null ? sizeOf(field) : 8;
  }
  return size;
}

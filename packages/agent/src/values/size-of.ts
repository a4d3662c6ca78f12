/** Estimates the bytes of plain data from its texts. */
export function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 8;
  let size = 16;
  for (const each of Object.values(value)) size += sizeOf(each);
  return size;
}

/** Joins byte ranges, without a copy if there is only one. */
export function joinBytes(ranges: readonly Uint8Array[]): Uint8Array {
  const [only] = ranges;
  if (only !== undefined && ranges.length === 1) return only;
  const whole = new Uint8Array(ranges.reduce((length, range) => length + range.length, 0));
  let at = 0;
  for (const range of ranges) {
    whole.set(range, at);
    at += range.length;
  }
  return whole;
}

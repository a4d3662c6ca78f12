/** Returns the total length of byte ranges. */
export function lengthOf(ranges: readonly Uint8Array[]): number {
  let length = 0;
  for (let index = 0; index < ranges.length; index += 1) length += (ranges[index] as Uint8Array).length;
  return length;
}

/** Joins byte ranges, without a copy if there is only one. */
export function joinBytes(ranges: readonly Uint8Array[]): Uint8Array {
  const [only] = ranges;
  if (only !== undefined && ranges.length === 1) return only;
  const whole = new Uint8Array(lengthOf(ranges));
  let at = 0;
  for (const range of ranges) {
    whole.set(range, at);
    at += range.length;
  }
  return whole;
}

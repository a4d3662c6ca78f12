/** Truncates text to about `limit` bytes of UTF-8 and marks the cut. The end is kept, because it usually has the result. */
export function cap(value: string, limit: number): string {
  if (value.length * 3 <= limit) return value;
  const bytes = encoder.encode(value);
  if (bytes.length <= limit) return value;
  const mark = `\n… ${bytes.length - limit} bytes omitted …\n`;
  const { head, tail } = endsOf(bytes, Math.max(0, limit - mark.length - 16));
  return `${head}${mark}${tail}`;
}

/** Returns the size of a text in UTF-8, in bytes. */
export function byteLength(text: string): number {
  return encoder.encode(text).length;
}

/** The head and tail of a text. */
export interface Ends {
  readonly head: string;
  readonly tail: string;
  /** Number of bytes between them. */
  readonly between: number;
}

/** Returns the head and tail of a text in UTF-8, at most `room` bytes in total, without splitting a character. */
export function endsOf(bytes: Uint8Array, room: number): Ends {
  const from = boundary(bytes, Math.floor(room / 2));
  const to = Math.max(from, boundary(bytes, bytes.length - Math.ceil(room / 2)));
  return {
    head: decoder.decode(bytes.subarray(0, from)),
    tail: decoder.decode(bytes.subarray(to)),
    between: to - from,
  };
}

/** Returns the nearest index at or before `index` at which a character starts. */
function boundary(bytes: Uint8Array, index: number): number {
  let at = index;
  while (at > 0 && ((bytes[at] ?? 0) & 0xc0) === 0x80) at -= 1;
  return at;
}

const encoder = new TextEncoder();
// A byte order mark inside a text is part of it.
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

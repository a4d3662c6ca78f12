/** Most bytes of a tool's text that reach the model (reliability promise 10). */
export const maxOutputBytes = 262_144;

/**
 * Text of at most about `limit` bytes in UTF-8: head and tail are kept and the cut is marked, because the
 * end of a long output mostly holds its verdict.
 */
export function cap(value: string, limit: number): string {
  if (value.length * 3 <= limit) return value;
  const bytes = encoder.encode(value);
  if (bytes.length <= limit) return value;
  const mark = `\n… ${bytes.length - limit} bytes left out …\n`;
  const { head, tail } = endsOf(bytes, Math.max(0, limit - mark.length - 16));
  return `${head}${mark}${tail}`;
}

/** Both ends of a text. */
export interface Ends {
  readonly head: string;
  readonly tail: string;
  /** Bytes between them. */
  readonly between: number;
}

/** Head and tail of a text in UTF-8, together of at most `room` bytes; no character is cut in two. */
export function endsOf(bytes: Uint8Array, room: number): Ends {
  const from = boundary(bytes, Math.floor(room / 2));
  const to = Math.max(from, boundary(bytes, bytes.length - Math.ceil(room / 2)));
  return {
    head: decoder.decode(bytes.subarray(0, from)),
    tail: decoder.decode(bytes.subarray(to)),
    between: to - from,
  };
}

/** The nearest place at or before `index` where a character begins. */
function boundary(bytes: Uint8Array, index: number): number {
  let at = index;
  while (at > 0 && ((bytes[at] ?? 0) & 0xc0) === 0x80) at -= 1;
  return at;
}

const encoder = new TextEncoder();
// A byte order mark inside a text is a part of it.
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

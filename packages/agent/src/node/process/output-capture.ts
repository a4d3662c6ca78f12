import { argumentError, withArgumentErrors } from '../../values/errors.ts';

/**
 * Keeps the beginning and the end of a byte stream of any length: the beginning shows what was run, and the end usually
 * contains the result.
 *
 * Invariants: at most `maxBytes` are kept; the omitted bytes are one gap between head and tail.
 */
export class OutputCapture {
  readonly #headMax: number;
  readonly #tailMax: number;
  readonly #head: Uint8Array[] = [];
  #headLength = 0;
  /** A ring buffer: `#tailLength` bytes, the oldest at `#tailStart`. */
  #tail: Uint8Array | undefined;
  #tailStart = 0;
  #tailLength = 0;
  #total = 0;

  constructor(maxBytes: number) {
    try {
      this.#headMax = Math.floor(maxBytes / 2);
      this.#tailMax = maxBytes - this.#headMax;
    } catch (thrown) {
      throw argumentError('new OutputCapture', thrown);
    }
  }

  /** Number of bytes received, kept or not. */
  get total(): number {
    return this.#total;
  }

  /** Number of bytes received but not kept. */
  get omitted(): number {
    return this.#total - this.#headLength - this.#tailLength;
  }

  push(chunk: Uint8Array): void {
    withArgumentErrors('push', () => {
      this.#total += chunk.length;
      const room = this.#headMax - this.#headLength;
      if (room > 0) {
        const part = chunk.slice(0, room);
        this.#head.push(part);
        this.#headLength += part.length;
      }
      if (chunk.length > room) this.#pushTail(chunk.subarray(Math.max(room, 0)));
    });
  }

  /** Returns the kept bytes as UTF-8; a line in place of the gap has its size. Omits a character that the gap splits. */
  text(): string {
    const head = Buffer.concat(this.#head);
    const tail = this.#tailBytes();
    if (this.omitted === 0) return Buffer.concat([head, tail]).toString('utf8');
    const whole = head.subarray(0, head.length - unfinished(head));
    const rest = tail.subarray(continuationLength(tail));
    const gap = this.#total - whole.length - rest.length;
    return `${whole.toString('utf8')}\n[… ${gap} bytes omitted …]\n${rest.toString('utf8')}`;
  }

  #pushTail(chunk: Uint8Array): void {
    const max = this.#tailMax;
    if (max === 0) return;
    this.#tail ??= new Uint8Array(max);
    const part = chunk.length > max ? chunk.subarray(chunk.length - max) : chunk;
    const end = (this.#tailStart + this.#tailLength) % max;
    const first = Math.min(part.length, max - end);
    this.#tail.set(part.subarray(0, first), end);
    this.#tail.set(part.subarray(first), 0);
    const over = Math.max(0, this.#tailLength + part.length - max);
    this.#tailStart = (this.#tailStart + over) % max;
    this.#tailLength = Math.min(max, this.#tailLength + part.length);
  }

  #tailBytes(): Buffer {
    if (this.#tail === undefined) return Buffer.alloc(0);
    const end = this.#tailStart + this.#tailLength;
    const first = this.#tail.subarray(this.#tailStart, Math.min(end, this.#tailMax));
    return Buffer.concat([first, this.#tail.subarray(0, Math.max(0, end - this.#tailMax))]);
  }
}

/** Returns the number of bytes at the end that start a UTF-8 character but do not complete it. */
function unfinished(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte >= 0xc0) return back < sequenceLength(byte) ? back : 0;
    if (byte < 0x80) return 0;
  }
  return 0;
}

/** Returns the number of bytes at the beginning that continue an earlier character. */
function continuationLength(bytes: Uint8Array): number {
  let count = 0;
  while (count < 3 && ((bytes[count] ?? 0) & 0xc0) === 0x80) count += 1;
  return count;
}

function sequenceLength(lead: number): number {
  if (lead >= 0xf0) return 4;
  return lead >= 0xe0 ? 3 : 2;
}

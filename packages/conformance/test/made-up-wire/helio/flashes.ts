import { crc32 } from 'node:zlib';
import type { Framer } from '@cobbler/agent/provider';
import { isObject } from '@cobbler/agent/provider';

const maxBytes = 16 * 1024 * 1024;

/** Returns the frame of a payload. An object without a kind, and any other value, gets the empty kind. */
export function writeFlash(payload: unknown): Uint8Array {
  const { type, ...rest } = isObject(payload) ? payload : { type: undefined };
  const isKnown = typeof type === 'string';
  const name = Buffer.from(isKnown ? type : '');
  const value = isKnown ? rest : payload;
  const json = Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
  const frame = Buffer.alloc(10 + name.length + json.length);
  frame.writeUInt32BE(frame.length, 0);
  frame.writeUInt16BE(name.length, 4);
  frame.set(name, 6);
  frame.set(json, 6 + name.length);
  frame.writeUInt32BE(crc32(frame.subarray(0, -4)), frame.length - 4);
  return frame;
}

/** Reads frames whose bytes may arrive one by one. */
export class FlashFramer implements Framer {
  /** The chunks of the incomplete frame. */
  #chunks: Uint8Array[] = [];
  #length = 0;
  /** Length of the incomplete frame; until its first four bytes have arrived, four. */
  #wanted = 4;

  *push(bytes: Uint8Array): Iterable<unknown> {
    this.#chunks.push(bytes);
    this.#length += bytes.length;
    if (this.#length < this.#wanted) return;
    let rest = Buffer.concat(this.#chunks);
    for (;;) {
      this.#wanted = rest.length < 4 ? 4 : rest.readUInt32BE(0);
      if (this.#wanted > maxBytes || (rest.length >= 4 && this.#wanted < 10))
        throw new Error(`a frame has ${this.#wanted} bytes`);
      if (rest.length < this.#wanted || rest.length < 4) break;
      yield readFlash(rest.subarray(0, this.#wanted));
      rest = rest.subarray(this.#wanted);
    }
    this.#chunks = rest.length === 0 ? [] : [rest];
    this.#length = rest.length;
  }

  /** An incomplete frame was cut off. */
  end(): Iterable<unknown> {
    return [];
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function readFlash(frame: Buffer): unknown {
  const nameLength = frame.readUInt16BE(4);
  if (6 + nameLength > frame.length - 4) throw new Error('the kind of a frame is longer than the frame');
  if (crc32(frame.subarray(0, -4)) !== frame.readUInt32BE(frame.length - 4))
    throw new Error('the checksum of a frame is wrong');
  const type = utf8.decode(frame.subarray(6, 6 + nameLength));
  const value: unknown = JSON.parse(utf8.decode(frame.subarray(6 + nameLength, -4)));
  return type !== '' && isObject(value) ? { ...value, type } : value;
}

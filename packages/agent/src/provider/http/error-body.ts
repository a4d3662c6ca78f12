import type { RawResponse } from '../wire/transport.ts';

/** Maximum number of bytes read from an error body: 16 KiB. */
export const maxErrorBytes: number = 16 * 1024;

/** The beginning of an error body. */
export interface ErrorBody {
  readonly text: string;
  readonly isCut: boolean;
}

/** Collects the start of a body. It can be read at any time, because a service may send an error and then hang. */
export class ErrorBodyReader {
  readonly #bytes = new Uint8Array(maxErrorBytes);
  #length = 0;
  #isCut = false;

  /** Resolves when the body ends, is cut off or exceeds the limit; the rest is not read. Never rejects. */
  async read(response: RawResponse): Promise<void> {
    const enough = new Promise<void>((resolve, reject) => {
      const reading = response.read((bytes) => {
        if (!this.#add(bytes)) resolve();
      });
      reading.then(resolve, reject);
    });
    await enough.catch(() => {
      this.#isCut = true;
    });
  }

  result(): ErrorBody {
    return { text: new TextDecoder().decode(this.#bytes.subarray(0, this.#length)), isCut: this.#isCut };
  }

  /** Returns false if there is no more room. */
  #add(bytes: Uint8Array): boolean {
    const room = maxErrorBytes - this.#length;
    const taken = bytes.length > room ? bytes.subarray(0, room) : bytes;
    this.#bytes.set(taken, this.#length);
    this.#length += taken.length;
    if (bytes.length <= room) return true;
    this.#isCut = true;
    return false;
  }
}

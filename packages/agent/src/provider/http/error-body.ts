import type { RawResponse } from '../wire/transport.ts';

/** Most bytes of an error's body that are read: 16 KiB. */
export const maxErrorBytes: number = 16 * 1024;

/** The beginning of a body that is not an answer. */
export interface ErrorBody {
  readonly text: string;
  readonly isCut: boolean;
}

/**
 * Collects the beginning of a body. What has come so far can be taken at any time, because a service that
 * reports an error and then hangs has said enough.
 */
export class ErrorBodyReader {
  readonly #bytes = new Uint8Array(maxErrorBytes);
  #length = 0;
  #isCut = false;

  /**
   * Resolves when the body ends, breaks off or is longer than needed; what then still comes is left
   * unread. Never rejects.
   */
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

  taken(): ErrorBody {
    return { text: new TextDecoder().decode(this.#bytes.subarray(0, this.#length)), isCut: this.#isCut };
  }

  /** False when there is no room for more. */
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

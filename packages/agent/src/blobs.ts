/** A part of something that is kept. */
export interface BlobPart {
  readonly bytes: Uint8Array;
  /** Size of the whole in bytes. */
  readonly size: number;
}

/** Keeps what is too long for a conversation. */
export interface Blobs {
  /** Keeps bytes under an id. The id follows from the bytes, so what is there already need not be kept again. */
  put(id: string, bytes: Uint8Array): void | Promise<void>;
  /** The bytes from `start` up to but not including `end`, as far as there are any; nothing for an unknown id. */
  get(
    id: string,
    range: { readonly start: number; readonly end: number },
  ): BlobPart | undefined | Promise<BlobPart | undefined>;
}

export interface MemoryBlobsOptions {
  /** Most bytes kept; beyond that the oldest are given up. Default 64 MiB. */
  readonly maxBytes?: number;
}

/** Blobs that live as long as the process. */
export function memoryBlobs(options: MemoryBlobsOptions = {}): Blobs {
  const { maxBytes = 67_108_864 } = options;
  const kept = new Map<string, Uint8Array>();
  let total = 0;
  return {
    put(id, bytes) {
      if (kept.has(id)) return;
      kept.set(id, bytes);
      total += bytes.length;
      for (const [oldest, { length }] of kept) {
        if (total <= maxBytes || oldest === id) break;
        kept.delete(oldest);
        total -= length;
      }
    },
    get(id, { start, end }) {
      const bytes = kept.get(id);
      return bytes && { bytes: bytes.subarray(start, end), size: bytes.length };
    },
  };
}

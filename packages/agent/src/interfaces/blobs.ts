import { AgentError } from '../values/errors.ts';

/** A part of something that is kept. */
export interface BlobPart {
  readonly bytes: Uint8Array;
  /** Size of the whole in bytes. */
  readonly size: number;
}

/**
 * Keeps what is too long for a conversation. An id is up to 64 of the characters a-z, 0-9, `-` and `_`.
 * `blobsContract` in the testing entry is what an implementation has to pass.
 */
export interface Blobs {
  /**
   * Keeps bytes under an id. The id follows from the bytes, so what is there already need not be kept again.
   * Rejects when they cannot be kept, and for an id that is none.
   */
  put(id: string, bytes: Uint8Array): void | Promise<void>;
  /** The bytes from `start` up to but not including `end`, as far as there are any; nothing for an unknown id. */
  get(
    id: string,
    range: { readonly start: number; readonly end: number },
  ): BlobPart | undefined | Promise<BlobPart | undefined>;
}

/** Whether a text is an id. A model chooses what it asks for, so anything may come. */
export function isBlobId(id: string): boolean {
  return /^[a-z0-9_-]{1,64}$/.test(id);
}

/** @throws AgentError `invalid` for a text that is no id. */
export function checkBlobId(id: string): void {
  if (isBlobId(id)) return;
  const message = `${JSON.stringify(id.slice(0, 80))} is not a blob id: it takes 1 to 64 of a-z, 0-9, - and _.`;
  throw new AgentError({ kind: 'invalid', code: 'blob_id', message });
}

/** How much `memoryBlobs` holds. */
export interface MemoryBlobsOptions {
  /** Most bytes kept; beyond that what was put longest ago is given up. Default 64 MiB. */
  readonly maxBytes?: number;
}

/** Blobs that live as long as the process. */
export function memoryBlobs(options: MemoryBlobsOptions = {}): Blobs {
  const { maxBytes = 67_108_864 } = options;
  const kept = new Map<string, Uint8Array>();
  let total = 0;
  return {
    put(id, bytes) {
      checkBlobId(id);
      const before = kept.get(id);
      kept.delete(id);
      kept.set(id, bytes);
      total += bytes.length - (before?.length ?? 0);
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

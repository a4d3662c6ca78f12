import { AgentError } from '../values/errors.ts';
import type { Reader } from '../values/input.ts';
import { amount, read, record, when } from '../values/input.ts';
import { shown } from '../values/invalid-value.ts';

/** A part of a blob. */
export interface BlobPart {
  readonly bytes: Uint8Array;
  /** Size of the complete blob in bytes. */
  readonly size: number;
}

/**
 * Stores content that is too long for a conversation. An id consists of up to 64 of the characters a-z, 0-9, `-` and
 * `_`. An implementation must pass `blobsContract` from the testing entry point.
 */
export interface Blobs {
  /**
   * Stores bytes under an id. The id follows from the bytes, so existing content need not be stored again. Rejects if
   * the bytes cannot be stored or the id is invalid.
   */
  put(id: string, bytes: Uint8Array): void | Promise<void>;
  /** Returns the bytes from `start` up to but not including `end`, as far as they exist; undefined for an unknown id. */
  get(
    id: string,
    range: { readonly start: number; readonly end: number },
  ): BlobPart | undefined | Promise<BlobPart | undefined>;
}

/** Returns whether a string is a blob id. The model chooses the ids that it requests, so any string is possible. */
export function isBlobId(id: unknown): boolean {
  return typeof id === 'string' && /^[a-z0-9_-]{1,64}$/.test(id);
}

/** Throws AgentError `invalid` if the string is not a blob id. */
export function checkBlobId(id: unknown): void {
  if (isBlobId(id)) return;
  const message = `${shown(id)} is not a blob id. Use 1 to 64 characters from a-z, 0-9, - and _.`;
  throw new AgentError({ kind: 'invalid', code: 'blob_id', message });
}

/** Options of {@link memoryBlobs}. */
export interface MemoryBlobsOptions {
  /** Maximum number of bytes stored. Beyond it, the blobs that were stored longest ago are deleted. Default 64 MiB. */
  readonly maxBytes?: number;
}

const blobBytes = when<Uint8Array>((value) => value instanceof Uint8Array, 'a Uint8Array');
/** Reads the range of a part. */
export const blobRange: Reader<{ readonly start: number; readonly end: number }> = record(
  { start: amount, end: amount },
  ['start', 'end'],
);

/** Creates blobs that exist as long as the process. */
export function memoryBlobs(options: MemoryBlobsOptions = {}): Blobs {
  const { maxBytes = 67_108_864 } = read(options, record({ maxBytes: amount }));
  const kept = new Map<string, Uint8Array>();
  let total = 0;
  return {
    put(id, bytes) {
      checkBlobId(id);
      read(bytes, blobBytes, 'bytes');
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
    get(id, range) {
      const { start, end } = read(range, blobRange, 'range');
      const bytes = kept.get(id);
      return bytes && { bytes: bytes.subarray(start, end), size: bytes.length };
    },
  };
}

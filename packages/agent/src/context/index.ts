/**
 * Keeps a conversation within the context window: compaction, summaries, and long tool output outside of it.
 *
 * @module
 */

export { type BlobPart, type Blobs, memoryBlobs } from '../interfaces/blobs.ts';
export { type Compaction, firstOf, keepLast } from './compaction.ts';
export { type OffloadOptions, offload } from './offload.ts';
export { type SummarizeOptions, summarize } from './summary.ts';

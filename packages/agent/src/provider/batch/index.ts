/**
 * Batches of a service as a transport: requests that may take 24 hours cost half.
 *
 * @module
 */

export type { BatchHttp } from './batch-http.ts';
export type { BatchEntry, BatchOutcome, BatchService, FindOutcome } from './batch-service.ts';
export { type BatchOptions, batchFields, withBatches } from './batch-transport.ts';

/**
 * What the author of a provider needs: `createAgent` makes an agent of a wire.
 *
 * @module
 */

export type { OutputShape, RequestConfig, StopReason } from '../agent.ts';
export type { ErrorKind } from '../errors.ts';
export { isObject, type Json, type JsonObject } from '../json.ts';
export { defaultRetry, type RetryPolicy } from '../retry.ts';
export { type CreateAgentOptions, createAgent } from './create-agent.ts';
export { fetchTransport } from './fetch-transport.ts';
export { platformTransport } from './platform-transport.ts';
export { retryAfterOf } from './retry-after.ts';
export { defaultTimeouts, type Timeouts } from './timeouts.ts';
export {
  type MendedTranscript,
  mendTranscript,
  type Remark,
  type Transcript,
  TranscriptBuilder,
  type TranscriptFormat,
  writeTurns,
} from './transcript.ts';
export type * from './transport.ts';
export { type ViewFor, viewOf } from './view.ts';
export type * from './wire.ts';

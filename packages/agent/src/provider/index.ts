/**
 * Everything that the author of a provider needs: `createAgent` creates an agent from a wire.
 *
 * @module
 */

export type { CacheBreak, OutputShape, RequestConfig } from '../interfaces/agent.ts';
export type { AgentFactory, FactoryConfig } from '../interfaces/config.ts';
export { cleanKey, defaultProvider } from '../interfaces/config.ts';
export { type FlatTool, fromFlatTool } from '../interfaces/tool.ts';
export { checkSchema } from '../json-schema/check-schema.ts';
export { schemaProblem } from '../json-schema/schema-problem.ts';
export { type FileKind, fileKind, fileText, hasMediaType, isBase64 } from '../values/file-part.ts';
export { isObject } from '../values/json.ts';
export { type FlatMessage, fromFlat, type Role, type Seal, toFlat } from '../values/message.ts';
export { type CreateAgentOptions, createAgent, platformTransport } from './create-agent.ts';
export { cachedCredentials, type ExpiringCredentials } from './http/credentials.ts';
export { fetchTransport } from './http/fetch-transport.ts';
export { retryAfterOf } from './http/retry-after.ts';
export { defaultTimeouts, type Timeouts } from './http/timeouts.ts';
export { configReaders, type ServiceConfig } from './read-config.ts';
export { normalizeHistory, type ViewFor } from './request/normalize-history.ts';
export { defaultRetry, type RetryPolicy } from './retry-policy.ts';
export { dropUnread } from './wire/payload.ts';
export type * from './wire/transport.ts';
export type * from './wire/wire.ts';

/**
 * Sessions over HTTP and server-sent events, for programs that start a server themselves.
 *
 * @module
 */

export {
  type NewToken,
  type TokenFile,
  type TokenInfo,
  TokenStore,
  tokenFile,
  type WantedToken,
} from './auth/token-store.ts';
export { defaultLimits, type ServerLimits } from './requests/limits.ts';
export { type Scope, scopes } from './requests/scope.ts';
export type { PlaceFacts, ShareChange } from './routes/services.ts';
export { type CobblerServer, type ServerOptions, startServer } from './server.ts';
export type { ModelChange, ModelOption, NextModel, ServerModels } from './sessions/session-models.ts';
export type {
  FileRestoration,
  SessionCommand,
  SessionCommands,
  SessionPlace,
  SessionUndo,
  Undone,
} from './sessions/session-place.ts';
export type { SessionPlaces } from './sessions/session-places.ts';
export type { Elsewhere } from './sessions/session-service.ts';
export { type SessionSettings, sessionExecutor, sessionWork } from './sessions/session-work.ts';
export type { ServerBudgets } from './sessions/token-budgets.ts';
export type { Level, LineSink } from './telemetry/logger.ts';

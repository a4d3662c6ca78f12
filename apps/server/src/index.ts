/**
 * Sessions over HTTP and server-sent events, for programs that start a server themselves.
 *
 * @module
 */

export type { Elsewhere } from './desk.ts';
export type { Level, LineSink } from './journal.ts';
export { defaultLimits, type ServerLimits } from './limits.ts';
export { type Scope, scopes } from './scope.ts';
export { type CobblerServer, type ServerOptions, startServer } from './server.ts';
export { type SessionSettings, sessionExecutor, sessionWork } from './session-work.ts';
export { type NewToken, TokenBook, type TokenFile, type TokenInfo, tokenFile } from './token-book.ts';

import { allows } from '../requests/scope.ts';
import type { TokenInfo } from './token-store.ts';

/** A session, as far as access to it is concerned. */
export interface OwnedSession {
  /** The user to whom it belongs: the one of its first event, or else its creator. */
  readonly user?: string | undefined;
  /** Number of events. */
  readonly events?: number;
}

/** Returns the user that a token stands for. Tokens with the same name stand for the same user. */
export function userOf({ name, id }: TokenInfo): string {
  return name || id;
}

/**
 * True if a token may use a session, as far as its scopes reach. This is the only place that decides it. A session
 * without a user is open only to tokens with the scope `admin`.
 */
export function mayAccess(token: TokenInfo | undefined, { user }: OwnedSession): boolean {
  if (token === undefined) return false;
  return seesAll(token) || userOf(token) === user;
}

/** True if a token may use the sessions of all users. */
export function seesAll({ scopes }: TokenInfo): boolean {
  return allows(scopes, 'admin');
}

import type { Share, ShareLevel } from '@cobbler/agent/store';
import type { Scope } from '../requests/scope.ts';
import { allows } from '../requests/scope.ts';
import type { TokenInfo } from './token-store.ts';

/** A session, as far as access to it is concerned. */
export interface OwnedSession {
  /** The user to whom it belongs: the one of its first event, or else its creator. */
  readonly user?: string | undefined;
  /** The users with whom it is shared. */
  readonly shares?: readonly Share[] | undefined;
  readonly events?: number;
}

/** The scopes that a token of another user keeps in a session that is shared with this user. */
const kept: ReadonlyMap<ShareLevel, readonly Scope[]> = new Map([
  ['read', ['read']],
  ['approve', ['read', 'approve']],
  ['use', ['read', 'prompt', 'approve']],
]);

/** Returns the user that a token stands for. Tokens with the same name stand for the same user. */
export function userOf({ name, id }: TokenInfo): string {
  return name || id;
}

/**
 * Returns the scopes that a token has in a session; none if it may not use the session at all. This is the only place that
 * decides it. A session without a user is open only to tokens with the scope `admin`.
 */
export function scopesIn(token: TokenInfo | undefined, session: OwnedSession): readonly Scope[] {
  if (token === undefined) return [];
  if (owns(token, session)) return token.scopes;
  const shared = scopesOfShare(shareOf(token, session));
  return token.scopes.filter((scope) => shared.includes(scope));
}

/** True if a token may use a session at all. */
export function mayAccess(token: TokenInfo | undefined, session: OwnedSession): boolean {
  return scopesIn(token, session).length > 0;
}

/** True if a token may delete a session and share it with others. */
export function owns(token: TokenInfo, { user }: OwnedSession): boolean {
  return seesAll(token) || userOf(token) === user;
}

/** Returns what a share allows the user of a token; undefined if the session is not shared with this user. */
export function shareOf(token: TokenInfo, { shares = [] }: OwnedSession): ShareLevel | undefined {
  return shares.find(({ user }) => user === userOf(token))?.may;
}

/** Returns the scopes that a share allows. */
export function scopesOfShare(may: ShareLevel | undefined): readonly Scope[] {
  return (may && kept.get(may)) ?? [];
}

/** True if a token may use the sessions of all users. */
export function seesAll({ scopes }: TokenInfo): boolean {
  return allows(scopes, 'admin');
}

import { defined } from '@cobbler/agent/values';
import { scopesOfShare, userOf } from '../auth/access.ts';
import type { TokenInfo } from '../auth/token-store.ts';
import { Problem } from '../requests/problem.ts';
import { allows } from '../requests/scope.ts';
import type { WantedShare } from './schemas.ts';
import type { Services } from './services.ts';

/** Maximum number of users with whom a session is shared. */
const maxShares = 100;

/**
 * Shares a session with a user, or ends that and the streams of the user. Only the owner can do this, with a token that has
 * the scopes that it shares.
 * @throws Problem 404 or 403, 409 for a session without events or with too many shares.
 */
export async function shareSession(
  { sessionService, store, streams, onShare }: Services,
  id: string,
  token: TokenInfo | undefined,
  { with: user, may }: WantedShare,
): Promise<void> {
  const session = await sessionService.ownSession(id, token);
  if (token === undefined) return;
  const missing = scopesOfShare(may).find((scope) => !allows(token.scopes, scope));
  if (missing !== undefined)
    throw new Problem(403, 'scope', `This token lacks the "${missing}" scope, so it cannot share it.`);
  const others = session.shares?.filter((share) => share.user !== user) ?? [];
  if (may !== undefined && others.length >= maxShares)
    throw new Problem(409, 'too_many_shares', `A session can be shared with at most ${maxShares} users.`);
  if (!(await store.share(id, user, may)))
    throw new Problem(409, 'empty_session', 'A session can be shared after its first prompt.');
  onShare?.({ session: id, name: user, by: userOf(token), ...defined({ may }) });
  const info = await store.info(id);
  session.belongTo({ user: session.user, shares: info?.shares });
  streams.endInvalid();
}

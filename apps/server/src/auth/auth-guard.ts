import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Cookies } from '../requests/cookie.ts';
import { pageHeader } from '../requests/cookie.ts';
import { Problem } from '../requests/problem.ts';
import type { Scope } from '../requests/scope.ts';
import { allows } from '../requests/scope.ts';
import type { TokenInfo, TokenStore } from './token-store.ts';
import { endOf } from './token-store.ts';

/** Headers that must be unique: a proxy could read the first value and this server the last, or the reverse. */
const single: ReadonlySet<string> = new Set([
  ...['host', 'authorization', 'cookie', 'origin', pageHeader],
  ...['content-type', 'content-length', 'content-encoding', 'transfer-encoding'],
  ...['idempotency-key', 'last-event-id', 'x-request-id'],
]);

const loopback: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '::1']);

/** Checks Host, Origin and token of every request before it is handled. */
export class AuthGuard {
  readonly #tokens: TokenStore;
  readonly #cookies: Cookies;
  readonly #hosts: ReadonlySet<string>;

  /** @param hosts allowed host names in addition to those of this machine. */
  constructor(tokens: TokenStore, cookies: Cookies, hosts: readonly string[]) {
    this.#tokens = tokens;
    this.#cookies = cookies;
    this.#hosts = new Set([...loopback, ...hosts.map((host) => host.toLowerCase())]);
  }

  /** @throws Problem 400 if a header that must be unique occurs twice */
  checkHeaders({ rawHeaders }: IncomingMessage): void {
    const seen = new Set<string>();
    for (let at = 0; at < rawHeaders.length; at += 2) {
      const name = rawHeaders[at]?.toLowerCase() ?? '';
      if (!single.has(name)) continue;
      if (!seen.has(name)) seen.add(name);
      else
        throw new Problem(400, 'repeated_header', `The header ${name} occurs twice. Send it once.`, {
          headers: { connection: 'close' },
        });
    }
  }

  /**
   * Rejects requests from pages of other sites, whether they use a host name that points to this machine or send a
   * cross-origin request.
   * @throws Problem 403
   */
  checkOrigin({ headers }: IncomingMessage): void {
    const host = hostOf(`http://${headers.host ?? ''}`);
    if (host === undefined || !this.#hosts.has(host)) {
      throw new Problem(403, 'host', 'This host name is not allowed. Allow it: --allowed-host NAME');
    }
    const { origin } = headers;
    if (origin === undefined) return;
    const from = hostOf(origin);
    const sameHost = from !== undefined && origin.toLowerCase().endsWith(`//${headers.host?.toLowerCase()}`);
    // Behind a proxy the port may differ, but the owner of the server has allowed the name.
    if (sameHost || (from !== undefined && this.#hosts.has(from) && !loopback.has(from))) return;
    throw new Problem(403, 'origin', 'Requests from web pages on other sites are rejected.');
  }

  /**
   * Returns the token of a request. For every scope but `admin`, the cookie of a page is also accepted.
   * @throws Problem 401 without a valid token, 403 if the token lacks this scope
   */
  identify({ headers }: IncomingMessage, scope: Scope): TokenInfo {
    const secret = /^Bearer +([\x21-\x7e]+)$/i.exec(headers.authorization ?? '')?.[1];
    const ofPage = () => (scope === 'admin' ? undefined : this.#byCookie(headers));
    const info = secret === undefined ? ofPage() : this.#tokens.find(secret);
    if (info === undefined) {
      const detail =
        secret === undefined
          ? 'A token is required: Authorization: Bearer TOKEN'
          : 'This token is not valid.';
      const challenge = secret === undefined ? 'Bearer' : 'Bearer error="invalid_token"';
      throw new Problem(401, 'unauthorized', detail, { headers: { 'www-authenticate': challenge } });
    }
    if (!allows(info.scopes, scope)) {
      throw new Problem(403, 'scope', `This token lacks the "${scope}" scope.`, {
        headers: { 'www-authenticate': `Bearer error="insufficient_scope", scope="${scope}"` },
      });
    }
    return info;
  }

  /** Returns the token that a cookie stands for. It expires with the cookie at the latest. */
  #byCookie(headers: IncomingHttpHeaders): TokenInfo | undefined {
    const cookie = this.#cookies.read(headers.cookie, headers[pageHeader]?.toString());
    const info = this.#tokens.list().find(({ id }) => id === cookie?.tokenId);
    if (cookie === undefined || info === undefined) return undefined;
    const ends = Math.min(cookie.until, endOf(info));
    return { ...info, expiresAt: new Date(ends).toISOString() };
  }
}

/** Returns the host name of an address, in lower case and without brackets. */
function hostOf(address: string): string | undefined {
  const url = URL.parse(address);
  if (url === null || url.username !== '' || url.password !== '' || url.hostname === '') return undefined;
  return url.hostname.toLowerCase().replace(/^\[(.*)\]$/, '$1');
}

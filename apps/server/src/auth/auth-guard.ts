import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Cookies } from '../requests/cookie.ts';
import { pageHeader } from '../requests/cookie.ts';
import { Problem } from '../requests/problem.ts';
import type { Scope } from '../requests/scope.ts';
import { allows } from '../requests/scope.ts';
import type { TokenInfo, TokenStore } from './token-store.ts';
import { endOf } from './token-store.ts';

/** Headers that say who asks and what for: a proxy could read the first and this server the last, or the reverse. */
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

  /** @param hosts names by which the server may be called besides those of this machine. */
  constructor(tokens: TokenStore, cookies: Cookies, hosts: readonly string[]) {
    this.#tokens = tokens;
    this.#cookies = cookies;
    this.#hosts = new Set([...loopback, ...hosts.map((host) => host.toLowerCase())]);
  }

  /** @throws Problem 400 for a request with two values where one counts */
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
   * A page of another site must not reach us: neither under a name that was pointed at this machine, nor by a
   * request that it makes itself.
   * @throws Problem 403
   */
  checkOrigin({ headers }: IncomingMessage): void {
    const host = hostOf(`http://${headers.host ?? ''}`);
    if (host === undefined || !this.#hosts.has(host)) {
      throw new Problem(403, 'host', 'This host name is not served. Allow it: --allowed-host NAME');
    }
    const { origin } = headers;
    if (origin === undefined) return;
    const from = hostOf(origin);
    const sameHost = from !== undefined && origin.toLowerCase().endsWith(`//${headers.host?.toLowerCase()}`);
    // Behind a proxy the port may differ; the owner of the server allowed the name.
    if (sameHost || (from !== undefined && this.#hosts.has(from) && !loopback.has(from))) return;
    throw new Problem(403, 'origin', 'Requests from pages of other sites are rejected.');
  }

  /**
   * Whose token a request carries.
   * @param byCookie whether the cookie of a page does as well
   * @throws Problem 401 without a valid one, 403 for one without this scope.
   */
  identify({ headers }: IncomingMessage, scope: Scope, byCookie: boolean): TokenInfo {
    const secret = /^Bearer +([\x21-\x7e]+)$/i.exec(headers.authorization ?? '')?.[1];
    const ofPage = () => (byCookie ? this.#byCookie(headers) : undefined);
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
      throw new Problem(403, 'scope', `This token lacks the scope ${scope}.`, {
        headers: { 'www-authenticate': `Bearer error="insufficient_scope", scope="${scope}"` },
      });
    }
    return info;
  }

  /** The token that a cookie stands for, which ends with the cookie at the latest. */
  #byCookie(headers: IncomingHttpHeaders): TokenInfo | undefined {
    const cookie = this.#cookies.read(headers.cookie, headers[pageHeader]?.toString());
    const info = this.#tokens.list().find(({ id }) => id === cookie?.tokenId);
    if (cookie === undefined || info === undefined) return undefined;
    const ends = Math.min(cookie.until, endOf(info));
    return { ...info, expiresAt: new Date(ends).toISOString() };
  }
}

/** The host name of an address, in lower case and without brackets. */
function hostOf(address: string): string | undefined {
  const url = URL.parse(address);
  if (url === null || url.username !== '' || url.password !== '' || url.hostname === '') return undefined;
  return url.hostname.toLowerCase().replace(/^\[(.*)\]$/, '$1');
}

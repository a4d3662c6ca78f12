import { createHmac, hash as digest, randomBytes, timingSafeEqual } from 'node:crypto';

/** The cookie of a page. It stands for a token for a limited time and does not contain it. */
export const cookieName = 'cobbler';

/** The request header in which a page sends the key of its cookie. */
export const pageHeader = 'cobbler-page';

/** A cookie and its key. A browser sends cookies to every port of a host, but the key stays with the page's own origin. */
export interface NewCookie {
  readonly value: string;
  readonly key: string;
}

/** The token of a valid cookie and its key. */
export interface ReadCookie {
  readonly tokenId: string;
  /** Expiry time in milliseconds since 1970. */
  readonly until: number;
}

/** Creates and reads cookies. They expire with time or their token, and survive a restart, so that a page keeps working. */
export class Cookies {
  readonly #keyOf: (tokenId: string) => string | undefined;
  readonly #now: () => number;
  /** Validity period in milliseconds. */
  readonly lifetimeMs: number;

  /** @param keyOf returns the key that signs the cookies of a token; undefined for an invalid token. */
  constructor(
    keyOf: (tokenId: string) => string | undefined,
    now: () => number,
    lifetimeMs: number = 12 * 3_600_000,
  ) {
    this.#keyOf = keyOf;
    this.lifetimeMs = lifetimeMs;
    this.#now = now;
  }

  /** Creates a cookie for a token; clients must send its key with it. */
  issue(tokenId: string): NewCookie {
    const key = randomBytes(32).toString('base64url');
    const body = `${tokenId}.${this.#now() + this.lifetimeMs}.${hashOf(key)}`;
    return { value: `${body}.${sign(body, this.#keyOf(tokenId) ?? '')}`, key };
  }

  /** Returns the token of a `Cookie` header sent with this key; undefined if either is missing or invalid. */
  read(header: string | undefined, key: string | undefined): ReadCookie | undefined {
    if (key === undefined) return undefined;
    for (const pair of (header ?? '').split(';')) {
      const [name, value = ''] = pair.trim().split('=');
      if (name !== cookieName) continue;
      const [tokenId = '', until = '', keyHash = '', signature = ''] = value.split('.');
      const signingKey = this.#keyOf(tokenId);
      if (signingKey === undefined || keyHash !== hashOf(key)) continue;
      const expected = Buffer.from(sign(`${tokenId}.${until}.${keyHash}`, signingKey));
      const given = Buffer.from(signature);
      if (given.length !== expected.length || !timingSafeEqual(given, expected)) continue;
      if (Number(until) > this.#now()) return { tokenId, until: Number(until) };
    }
    return undefined;
  }
}

function hashOf(key: string): string {
  return digest('sha256', key, 'base64url');
}

function sign(body: string, key: string): string {
  return createHmac('sha256', key).update(body).digest('base64url');
}

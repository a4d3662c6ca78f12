import { createHmac, hash as digest, randomBytes, timingSafeEqual } from 'node:crypto';

/** The cookie that a page gets for its token: it stands for the token for a while and says nothing about it. */
export const cookieName = 'cobbler';

/** The request header in which a page sends the key of its cookie. */
export const pageHeader = 'cobbler-page';

/** A cookie and its key. A browser sends cookies to every port of a host; the key stays with the page's own origin. */
export interface NewCookie {
  readonly value: string;
  readonly key: string;
}

/** The token of a valid cookie with its key. */
export interface ReadCookie {
  readonly tokenId: string;
  /** When it ends, in milliseconds since 1970. */
  readonly until: number;
}

/**
 * Creates and reads cookies. They expire with their token or by time, and survive a restart of the server: an open
 * page continues.
 */
export class Cookies {
  readonly #keyOf: (tokenId: string) => string | undefined;
  readonly #now: () => number;
  /** Validity, in milliseconds. */
  readonly lifetimeMs: number;

  /** @param keyOf what the cookies of a token are signed with; nothing for a token that is not valid. */
  constructor(
    keyOf: (tokenId: string) => string | undefined,
    now: () => number,
    lifetimeMs: number = 12 * 3_600_000,
  ) {
    this.#keyOf = keyOf;
    this.lifetimeMs = lifetimeMs;
    this.#now = now;
  }

  /** A cookie that stands for a token, for clients that send this key with it. */
  issue(tokenId: string): NewCookie {
    const key = randomBytes(32).toString('base64url');
    const body = `${tokenId}.${this.#now() + this.lifetimeMs}.${hashOf(key)}`;
    return { value: `${body}.${signed(body, this.#keyOf(tokenId) ?? '')}`, key };
  }

  /** The token of a `Cookie` header sent with this key. Undefined without both. */
  read(header: string | undefined, key: string | undefined): ReadCookie | undefined {
    if (key === undefined) return undefined;
    for (const pair of (header ?? '').split(';')) {
      const [name, value = ''] = pair.trim().split('=');
      if (name !== cookieName) continue;
      const [tokenId = '', until = '', keyHash = '', signature = ''] = value.split('.');
      const signingKey = this.#keyOf(tokenId);
      if (signingKey === undefined || keyHash !== hashOf(key)) continue;
      const expected = Buffer.from(signed(`${tokenId}.${until}.${keyHash}`, signingKey));
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

function signed(body: string, key: string): string {
  return createHmac('sha256', key).update(body).digest('base64url');
}

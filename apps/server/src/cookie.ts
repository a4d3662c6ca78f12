import { createHmac, timingSafeEqual } from 'node:crypto';

/** The cookie that a page gets for its token: it stands for the token for a while and says nothing about it. */
export const cookieName = 'cobbler';

/**
 * Makes and reads cookies. They end with their token and with time, and outlive a restart of the server: a page that
 * is open goes on.
 */
export class Cookies {
  readonly #keyOf: (tokenId: string) => string | undefined;
  readonly #now: () => number;
  /** How long one is valid, in milliseconds. */
  readonly lifetimeMs: number;

  /** @param keyOf what the cookies of a token are signed with; nothing for a token that is not valid. */
  constructor(
    keyOf: (tokenId: string) => string | undefined,
    lifetimeMs: number = 12 * 3_600_000,
    now: () => number = Date.now,
  ) {
    this.#keyOf = keyOf;
    this.lifetimeMs = lifetimeMs;
    this.#now = now;
  }

  /** A value that stands for a token. */
  issue(tokenId: string): string {
    const body = `${tokenId}.${this.#now() + this.lifetimeMs}`;
    return `${body}.${signed(body, this.#keyOf(tokenId) ?? '')}`;
  }

  /** The token that a `Cookie` header stands for. */
  read(header: string | undefined): string | undefined {
    for (const pair of (header ?? '').split(';')) {
      const [name, value = ''] = pair.trim().split('=');
      if (name !== cookieName) continue;
      const [tokenId = '', until = '', signature = ''] = value.split('.');
      const key = this.#keyOf(tokenId);
      if (key === undefined) continue;
      const expected = Buffer.from(signed(`${tokenId}.${until}`, key));
      const given = Buffer.from(signature);
      if (given.length !== expected.length || !timingSafeEqual(given, expected)) continue;
      if (Number(until) > this.#now()) return tokenId;
    }
    return undefined;
  }
}

function signed(body: string, key: string): string {
  return createHmac('sha256', key).update(body).digest('base64url');
}

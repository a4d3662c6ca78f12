import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** The cookie that a page gets for its token: it stands for the token for a while and says nothing about it. */
export const cookieName = 'cobbler';

/** Makes and reads cookies. They end with the process that made them, with their token and with time. */
export class Cookies {
  readonly #key = randomBytes(32);
  readonly #now: () => number;
  /** How long one is valid, in milliseconds. */
  readonly lifetimeMs: number;

  constructor(lifetimeMs: number = 12 * 3_600_000, now: () => number = Date.now) {
    this.lifetimeMs = lifetimeMs;
    this.#now = now;
  }

  /** A value that stands for a token. */
  issue(tokenId: string): string {
    const body = `${tokenId}.${this.#now() + this.lifetimeMs}`;
    return `${body}.${this.#sign(body)}`;
  }

  /** The token that a `Cookie` header stands for. */
  read(header: string | undefined): string | undefined {
    for (const pair of (header ?? '').split(';')) {
      const [name, value = ''] = pair.trim().split('=');
      if (name !== cookieName) continue;
      const [tokenId = '', until = '', signature = ''] = value.split('.');
      const expected = Buffer.from(this.#sign(`${tokenId}.${until}`));
      const given = Buffer.from(signature);
      if (given.length !== expected.length || !timingSafeEqual(given, expected)) continue;
      if (Number(until) > this.#now()) return tokenId;
    }
    return undefined;
  }

  #sign(body: string): string {
    return createHmac('sha256', this.#key).update(body).digest('base64url');
  }
}

import { Problem } from '../requests/problem.ts';
import type { TokenInfo } from './token-store.ts';

const minuteMs = 60_000;

/** Number of tokens above which those are forgotten that can send all their requests again. */
const maxKept = 1_000;

/**
 * Counts the requests of tokens that have a rate. A token can send all requests of a minute at once. Then each is available
 * again after its part of the minute.
 */
export class RequestRate {
  readonly #now: () => number;
  /** By token: when all its requests are available again, in milliseconds since 1970. */
  readonly #fullAt = new Map<string, number>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** @throws Problem 429 `rate` if the token has sent too many requests. This one is then not counted. */
  count({ id, requestsPerMinute: rate }: TokenInfo): void {
    if (rate === undefined) return;
    const now = this.#now();
    // After the clock was set back, a token must not wait longer than a minute.
    const fullAt = Math.min(Math.max(this.#fullAt.get(id) ?? 0, now), now + minuteMs);
    const waitMs = fullAt + minuteMs / rate - now - minuteMs;
    // Less than a millisecond is a rounding error.
    const isCounted = waitMs < 1;
    this.#fullAt.set(id, isCounted ? fullAt + minuteMs / rate : fullAt);
    if (!isCounted) {
      const detail = `This token can send at most ${rate} requests per minute that change something.`;
      const headers = { 'retry-after': String(Math.ceil(waitMs / 1000)) };
      throw new Problem(429, 'rate', detail, { headers });
    }
    if (this.#fullAt.size <= maxKept) return;
    for (const [token, at] of this.#fullAt) if (at <= now) this.#fullAt.delete(token);
  }
}

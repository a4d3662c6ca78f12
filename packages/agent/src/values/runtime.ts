import { argumentError, withArgumentErrors } from './errors.ts';

/**
 * All side effects of the core, injected so that a run can be repeated exactly: two runs with the same runtime, script
 * and seed write byte-identical logs. Only this file and `node/` use the real ones.
 */
export interface Runtime {
  /** Returns the wall clock in milliseconds since 1970: for display and logs, not for measuring. */
  now(): number;
  /** Returns the time of a clock that never goes back, in milliseconds: for deadlines and durations. */
  monotonic(): number;
  /** Calls `fire` once after `ms` (at most 2^31-1). Returns a function that cancels the timer. */
  timer(ms: number, fire: () => void): () => void;
  /** Returns a number from 0 up to but not including 1. */
  random(): number;
  /** Returns a new unique id, safe in file names and URLs. */
  id(): string;
  /** Returns the SHA-256 of a string in UTF-8, as lower-case hexadecimal. */
  digest(text: string): Promise<string>;
  /** The `fetch` function, used where no faster transport is available. */
  readonly fetch: typeof globalThis.fetch;
}

/** The clock, randomness and network of the current JavaScript runtime. */
export const systemRuntime: Runtime = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  timer(ms, fire) {
    try {
      const handle = setTimeout(fire, Math.min(Math.max(ms, 0), 2 ** 31 - 1));
      return () => clearTimeout(handle);
    } catch (thrown) {
      throw argumentError('timer', thrown);
    }
  },
  random: () => Math.random(),
  id() {
    const id = crypto.randomUUID();
    // Node builds the id from twenty string parts, which stay in memory until the string is read.
    id.isWellFormed();
    return id;
  },
  async digest(text) {
    try {
      const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
      return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('');
    } catch (thrown) {
      throw argumentError('digest', thrown);
    }
  },
  fetch: (input, init) => globalThis.fetch(input, init),
};

/** Caches the text of the last minute used, because building it costs more than the rest of an event. */
let minute = Number.NaN;
let minuteText = '';

/** Returns a time in milliseconds since 1970 as ISO 8601 text in UTC. */
export function isoTime(ms: number): string {
  try {
    const whole = Math.floor(ms / 60_000);
    if (whole !== minute) {
      minuteText = new Date(whole * 60_000).toISOString().slice(0, -7);
      minute = whole;
    }
    // The added digit keeps the leading zeros of the others: seconds and milliseconds.
    const digits = String(100_000 + Math.floor(ms - whole * 60_000));
    return `${minuteText}${digits.slice(1, 3)}.${digits.slice(3)}Z`;
  } catch (thrown) {
    throw argumentError('isoTime', thrown);
  }
}

/** Parses ISO 8601 text to milliseconds since 1970; returns NaN for any other text. */
export function timeOf(text: string): number {
  return withArgumentErrors('timeOf', () => Date.parse(text));
}

/** Returns a date of the calendar in UTC, in milliseconds since 1970. Months count from 0. */
export function utcTime(...date: Parameters<typeof Date.UTC>): number {
  return Date.UTC(...date);
}

/**
 * Every effect the core needs, injected, so that a run can be repeated exactly: two runs with the same
 * runtime, script and seed write byte-identical logs. Only this file and `node/` touch the real ones.
 */
export interface Runtime {
  /** Wall clock, milliseconds since 1970: for people and logs, never for measuring. */
  now(): number;
  /** A clock that never goes back, in milliseconds: for deadlines and durations. */
  monotonic(): number;
  /** Calls `fire` once after `ms` (at most 2^31-1). Returns a function that takes the timer back. */
  timer(ms: number, fire: () => void): () => void;
  /** A number from 0 up to but not including 1. */
  random(): number;
  /** A new unique id, safe in file names and URLs. */
  id(): string;
  /** SHA-256 of a text in UTF-8, as lower-case hexadecimal. */
  digest(text: string): Promise<string>;
  /** The web's fetch, for whatever has no faster transport. */
  readonly fetch: typeof globalThis.fetch;
}

/** The real clock, randomness and network of whatever JavaScript runtime this is. */
export const systemRuntime: Runtime = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  timer(ms, fire) {
    const handle = setTimeout(fire, Math.min(Math.max(ms, 0), 2 ** 31 - 1));
    return () => clearTimeout(handle);
  },
  random: () => Math.random(),
  id() {
    const id = crypto.randomUUID();
    // Node puts it together of twenty pieces, which stay in memory with it until it is read.
    id.isWellFormed();
    return id;
  },
  async digest(text) {
    const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
    return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('');
  },
  fetch: (input, init) => globalThis.fetch(input, init),
};

/** The text of the last whole minute that was asked for: building it costs more than the rest of an event. */
let minute = Number.NaN;
let minuteText = '';

/** A wall-clock reading as ISO 8601 text in UTC. */
export function isoTime(ms: number): string {
  const whole = Math.floor(ms / 60_000);
  if (whole !== minute) {
    minuteText = new Date(whole * 60_000).toISOString().slice(0, -7);
    minute = whole;
  }
  const rest = Math.floor(ms - whole * 60_000);
  const seconds = Math.floor(rest / 1000);
  const thousandths = rest - seconds * 1000;
  return `${minuteText}${seconds < 10 ? '0' : ''}${seconds}.${thousandths < 10 ? '00' : thousandths < 100 ? '0' : ''}${thousandths}Z`;
}

/** The wall-clock reading of an ISO 8601 text in milliseconds; NaN for any other text. */
export function timeOf(text: string): number {
  return Date.parse(text);
}

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
  id: () => crypto.randomUUID(),
  async digest(text) {
    const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
    return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('');
  },
  fetch: (input, init) => globalThis.fetch(input, init),
};

/** A wall-clock reading as ISO 8601 text in UTC. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

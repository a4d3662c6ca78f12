import { createHash } from 'node:crypto';
import type { Runtime } from '@cobbler/agent';

interface Timer {
  readonly at: number;
  readonly fire: () => void;
}

/** Number of event-loop rounds without activity before time advances. */
const quietRounds = 4;

/**
 * A runtime whose time advances only when nothing else can happen, so that hours of delays take no time and two runs
 * are identical. It has no network.
 */
export class VirtualClock implements Runtime {
  readonly fetch: Runtime['fetch'] = () => Promise.reject(new Error('The virtual clock has no network.'));
  #elapsed = 0;
  #ids = 0;
  #timers: readonly Timer[] = [];

  now(): number {
    return 1_767_225_600_000 + this.#elapsed;
  }

  monotonic(): number {
    return this.#elapsed;
  }

  timer(ms: number, fire: () => void): () => void {
    const timer = { at: this.#elapsed + Math.max(0, ms), fire };
    this.#timers = [...this.#timers, timer];
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /** Returns the value for the longest backoff. */
  random(): number {
    return 0.999;
  }

  id(): string {
    this.#ids += 1;
    return `id-${this.#ids}`;
  }

  digest(text: string): Promise<string> {
    return Promise.resolve(createHash('sha256').update(text).digest('hex'));
  }

  /** Resolves after this much virtual time. */
  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => void this.timer(ms, resolve));
  }

  /** Advances the time while nothing is running. */
  pass(ms: number): void {
    this.#elapsed += ms;
  }

  /** Waits for a promise, and advances time to the next timer whenever nothing else happens. */
  async until<Value>(pending: PromiseLike<Value>): Promise<Value> {
    let settled = false;
    const note = () => {
      settled = true;
    };
    pending.then(note, note);
    for (let quiet = 0; !settled; quiet += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      // Files are read and closed in real time.
      if (isUsingFiles()) quiet = 0;
      if (quiet < quietRounds || settled) continue;
      this.#fireNext();
      quiet = 0;
    }
    return await pending;
  }

  #fireNext(): void {
    const [next] = this.#timers.toSorted((left, right) => left.at - right.at);
    if (next === undefined) throw new Error('The promise cannot settle: no timer is left.');
    this.#timers = this.#timers.filter((other) => other !== next);
    this.#elapsed = Math.max(this.#elapsed, next.at);
    next.fire();
  }
}

function isUsingFiles(): boolean {
  return process
    .getActiveResourcesInfo()
    .some((name) => name.startsWith('FSReq') || name.endsWith('CloseReq'));
}

import type { SessionStore } from '@cobbler/agent';

/** Maximum time that a client waits for a change, in milliseconds: less than proxies wait for a response. */
const waitMs = 25_000;

interface Waiter {
  readonly version: string;
  readonly until: number;
  readonly wake: () => void;
}

/**
 * Notices the writes of all processes, for all clients at once. Without a client, it does not look. If the store does not
 * tell its version, every look counts as a change.
 */
export class StoreWatch {
  readonly #store: Pick<SessionStore, 'version'>;
  readonly #now: () => number;
  readonly #waiters = new Set<Waiter>();
  #last: string | undefined;

  constructor(store: Pick<SessionStore, 'version'>, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  get version(): string | undefined {
    return this.#store.version?.();
  }

  /** Resolves when the version is another one, after a time limit, or immediately if the store does not tell it. */
  async changed(version: string, onClose: (wake: () => void) => void): Promise<void> {
    if (this.version !== version) return;
    await new Promise<void>((resolve) => {
      const waiter: Waiter = {
        version,
        until: this.#now() + waitMs,
        wake: () => {
          this.#waiters.delete(waiter);
          resolve();
        },
      };
      this.#waiters.add(waiter);
      onClose(waiter.wake);
    });
  }

  /** Wakes clients whose version is old. Returns true if anything may have changed since the last call. */
  look(hasReaders: boolean): boolean {
    if (!hasReaders && this.#waiters.size === 0) return false;
    const { version } = this;
    for (const { version: seen, until, wake } of this.#waiters)
      if (version !== seen || this.#now() >= until) wake();
    const isNew = version === undefined || version !== this.#last;
    this.#last = version;
    return isNew;
  }

  /** Wakes all clients. */
  close(): void {
    for (const { wake } of this.#waiters) wake();
  }
}

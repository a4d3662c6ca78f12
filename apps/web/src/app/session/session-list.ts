import { Observable } from '../parts/observable.ts';
import type { SessionEntry } from './api.ts';
import { ApiError, api } from './api.ts';

/** Interval at which a visible page loads the list, in milliseconds. */
const everyMs = 4_000;

/** The same for a hidden page, whose title still shows the number of waiting approvals. */
const hiddenEveryMs = 15_000;

/** Maximum number of sessions to search. */
const maxSearched = 2_000;

/** The sessions of the server, kept up to date. */
export class SessionList extends Observable {
  items: readonly SessionEntry[] = [];
  isLoaded = false;
  /** True if the server has older sessions that are not loaded. */
  hasMore = false;
  isSignedOut = false;
  #pages = 1;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #asking: Promise<void> | undefined;
  #isEnded = false;

  /** Loads the list now, and then at intervals. */
  refresh(): Promise<void> {
    clearTimeout(this.#timer);
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined;
      if (!this.#isEnded && !this.isSignedOut) {
        this.#timer = setTimeout(() => void this.refresh(), document.hidden ? hiddenEveryMs : everyMs);
      }
    });
    return this.#asking;
  }

  /** Loads older sessions. */
  more(): Promise<void> {
    this.#pages += 1;
    return this.refresh();
  }

  /** Loads all sessions, for the search. */
  all(): Promise<void> {
    if (!this.hasMore) return Promise.resolve();
    this.#pages = maxSearched / 100;
    return this.refresh();
  }

  end(): void {
    this.#isEnded = true;
    clearTimeout(this.#timer);
  }

  async #ask(): Promise<void> {
    try {
      const items: SessionEntry[] = [];
      let cursor: string | undefined;
      for (let page = 0; page < this.#pages; page += 1) {
        const answer = await api.list(cursor);
        items.push(...answer.items);
        cursor = answer.next;
        if (cursor === undefined) break;
      }
      this.hasMore = cursor !== undefined;
      this.isSignedOut = false;
      this.isLoaded = true;
      if (JSON.stringify(items) !== JSON.stringify(this.items)) this.items = items;
    } catch (error) {
      // A server that is down comes back, but an expired sign-in does not.
      this.isSignedOut = error instanceof ApiError && error.status === 401;
    }
    this.notify();
  }
}

import { Observable } from '../parts/observable.ts';
import type { SessionEntry } from './api.ts';
import { ApiError, api } from './api.ts';
import { notifyChanges } from './notifications.ts';

/** Interval at which a visible page loads the list, in milliseconds. */
const everyMs = 4_000;

/** The same for a hidden page, whose title still shows the number of waiting approvals. */
const hiddenEveryMs = 15_000;

/** Minimum time between two loads of a page that the server tells about changes, in milliseconds. */
const pauseMs = 500;

/** Maximum number of sessions to search. */
const maxSearched = 2_000;

/** The sessions of the server, kept up to date. */
export class SessionList extends Observable {
  items: readonly SessionEntry[] = [];
  isLoaded = false;
  /** True if the server has older sessions that are not loaded. */
  hasMore = false;
  isSignedOut = false;
  /** The directory of the sessions to list, and of new ones; undefined for all, and the default one. */
  folder: string | undefined;
  /** The directories in which a session can start. */
  folders: readonly string[] = [];
  #version: string | undefined;
  #waiting = new AbortController();
  #pages = 1;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #asking: Promise<void> | undefined;
  #isEnded = false;

  /** Loads the list now, and then when it has changed, or at intervals if the page is hidden or the server cannot tell. */
  refresh(): Promise<void> {
    clearTimeout(this.#timer);
    this.#waiting.abort();
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined;
      if (this.#isEnded || this.isSignedOut) return;
      const version = document.hidden ? undefined : this.#version;
      const load = () => void (version === undefined ? this.refresh() : this.#wait(version));
      const ms = version !== undefined ? pauseMs : document.hidden ? hiddenEveryMs : everyMs;
      this.#timer = setTimeout(load, ms);
    });
    return this.#asking;
  }

  /** Lists the sessions of one directory, or all. */
  show(folder: string | undefined): void {
    this.folder = folder;
    void this.refresh();
  }

  async #wait(version: string): Promise<void> {
    this.#waiting = new AbortController();
    const { signal } = this.#waiting;
    try {
      await api.changed(version, signal);
    } catch {
      // The list shows what the reason is.
    }
    if (!signal.aborted) void this.refresh();
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
    this.#waiting.abort();
  }

  async #ask(): Promise<void> {
    try {
      const items: SessionEntry[] = [];
      let cursor: string | undefined;
      for (let page = 0; page < this.#pages; page += 1) {
        const answer = await api.list(this.folder, cursor);
        items.push(...answer.items);
        cursor = answer.next;
        // That of the first page: the list may have changed while the others were loaded.
        if (page === 0) this.#version = answer.version;
        if (cursor === undefined) break;
      }
      this.hasMore = cursor !== undefined;
      this.isSignedOut = false;
      if (!this.isLoaded) this.folders = (await api.folders()).items;
      this.isLoaded = true;
      notifyChanges(this.items, items);
      if (JSON.stringify(items) !== JSON.stringify(this.items)) this.items = items;
    } catch (error) {
      // A server that is down comes back, but an expired sign-in does not.
      this.#version = undefined;
      this.isSignedOut = error instanceof ApiError && error.status === 401;
    }
    this.notify();
  }
}

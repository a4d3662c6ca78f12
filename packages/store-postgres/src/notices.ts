import type { Connection } from './database.ts';

/**
 * Notifies listeners of appends. Not in the append's transaction: the database commits transactions with notifications
 * one after the other, and each would block the others while it waits for the disk. A notification that is lost,
 * because the process or the connection ends first, is replaced by polling.
 */
export class Notices {
  readonly #db: Connection;
  readonly #channel: string;
  /** Latest positions not yet notified, by session. */
  readonly #waiting = new Map<string, number>();
  #sending: Promise<void> | undefined;

  constructor(db: Connection, channel: string) {
    this.#db = db;
    this.#channel = channel;
  }

  /** Notifications that arrive during one statement share the next one. */
  add(sessionId: string, seq: number): void {
    this.#waiting.set(sessionId, seq);
    this.#sending ??= this.#send().finally(() => {
      this.#sending = undefined;
    });
  }

  async settled(): Promise<void> {
    await this.#sending;
  }

  async #send(): Promise<void> {
    while (this.#waiting.size > 0) {
      const payloads = [...this.#waiting].map(([sessionId, seq]) => `${sessionId} ${seq}`);
      this.#waiting.clear();
      try {
        await this.#db.query('SELECT pg_notify($1, payload) FROM unnest($2::text[]) AS payload', [
          this.#channel,
          payloads,
        ]);
      } catch {
        // Looked for instead.
      }
    }
  }
}

import type { Connection } from './database.ts';

/**
 * Tells whoever listens what was appended. Not in the transaction of the append: the database lets transactions that
 * tell something commit only one after the other, and each would wait for the disk while it holds up the rest. A
 * notice that is lost, because the process or the connection ends first, is made up for by whoever looks.
 */
export class Notices {
  readonly #db: Connection;
  readonly #channel: string;
  /** Last places that nobody was told of, by session. */
  readonly #waiting = new Map<string, number>();
  #sending: Promise<void> | undefined;

  constructor(db: Connection, channel: string) {
    this.#db = db;
    this.#channel = channel;
  }

  /** All that comes while one statement is under way shares the next. */
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

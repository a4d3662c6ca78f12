import { hash } from 'node:crypto';
import type { Event, UserPart } from '@cobbler/agent';
import { currentParts } from '@cobbler/agent/events';
import type { ReadLog } from './log-pages.ts';
import { logPages } from './log-pages.ts';

/** A run that a prompt has started. */
export interface KnownRun {
  readonly seq: number;
  /** A hash of the prompt, because the prompt itself may be long. */
  readonly digest: string;
}

/** The prompts of a session by run. The complete log is read once, and only for the first request with a key. */
export class KnownRuns {
  #known: Map<string, KnownRun> | undefined;
  #reading: Promise<ReadonlyMap<string, KnownRun>> | undefined;

  /** True once the log is being read. */
  get isUsed(): boolean {
    return this.#reading !== undefined;
  }

  /** Adds the prompt of an event, if it is one. */
  note(event: Event): void {
    if (event.type !== 'user' || event.steer === true) return;
    this.#known?.set(event.runId, { seq: event.seq, digest: digestOf(event.content) });
  }

  /** Forgets everything, because another session has the same id. */
  forget(): void {
    this.#known = undefined;
    this.#reading = undefined;
  }

  /** Returns all prompts. `onRead` receives the last event of the log when it has been read. */
  async all(read: ReadLog, onRead: (seq: number) => void): Promise<ReadonlyMap<string, KnownRun>> {
    this.#reading ??= this.#read(read, onRead);
    return await this.#reading;
  }

  async #read(read: ReadLog, onRead: (seq: number) => void): Promise<ReadonlyMap<string, KnownRun>> {
    // Set immediately, so that events in the meantime are recorded too.
    const known = new Map<string, KnownRun>();
    this.#known = known;
    let seq = 0;
    try {
      for await (const page of logPages(read)) {
        for (const event of page) this.note(event);
        seq = page.at(-1)?.seq ?? seq;
      }
      onRead(seq);
      return known;
    } catch (error) {
      this.#reading = undefined;
      throw error;
    }
  }
}

/** Returns the hash of a prompt. */
export function digestOf(content: readonly UserPart[]): string {
  return hash('sha256', JSON.stringify(currentParts(content)), 'base64');
}

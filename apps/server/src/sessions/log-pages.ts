import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Event } from '@cobbler/agent';

/** Reads at most this many events of a session after a sequence number. */
export type ReadLog = (afterSeq: number, limit: number) => readonly Event[] | Promise<readonly Event[]>;

/** Maximum number of events in memory at a time while reading a whole log. */
export const pageLength = 100;

let turns: Promise<void> = Promise.resolve();

/**
 * Resolves in its own turn of the event loop: however many clients read long logs at once, requests are handled after
 * every page.
 */
export function turn(): Promise<void> {
  turns = turns.then(() => nextTurn());
  return turns;
}

/** The events of a session page by page. Others get their turn in between, however long it is. */
export async function* logPages(read: ReadLog, afterSeq = 0): AsyncGenerator<readonly Event[]> {
  let seq = afterSeq;
  for (;;) {
    const page = await read(seq, pageLength);
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    if (page.length < pageLength) return;
    seq = last.seq;
    await turn();
  }
}

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Event } from '@cobbler/agent';

/** Reads at most this many events of a session after a sequence number. */
export type ReadLog = (afterSeq: number, limit: number) => readonly Event[] | Promise<readonly Event[]>;

/** Maximum number of events in memory at a time while reading a whole log. */
export const pageLength = 100;

let turns: Promise<void> = Promise.resolve();

/** Resolves in a later turn of the event loop, so that requests are handled after every page of a long log. */
export function turn(): Promise<void> {
  turns = turns.then(() => nextTurn());
  return turns;
}

/** Yields the events of a session page by page, and lets other work run in between. */
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

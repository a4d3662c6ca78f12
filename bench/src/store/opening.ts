import { join } from 'node:path';
import type { SessionStore, Store } from '@cobbler/agent';
import { openSession } from '@cobbler/agent';
import type { State } from '@cobbler/agent/events';
import { emptyState, fold } from '@cobbler/agent/events';
import { sqliteStore } from '@cobbler/agent/node';
import { eventAt } from './events.ts';
import type { OpeningFigures } from './figures.ts';
import { quantile } from './figures.ts';

const length = 10_000;
const times = 7;

/** Opens a session of 10,000 events that was never compacted, from its snapshot and from its start. */
export async function measureOpening(folder: string): Promise<OpeningFigures> {
  const file = join(folder, 'sessions.db');
  await writeSession(file);
  const snapshotMs: number[] = [];
  const wholeMs: number[] = [];
  let heapBytes = 0;
  let messageBytes = 0;
  for (let time = 0; time < times; time += 1) {
    const store = sqliteStore(file);
    const { ms, state, heap } = await opened(store, store);
    snapshotMs.push(ms);
    heapBytes = heap;
    messageBytes = JSON.stringify(state.messages).length;
    if (state.seq !== length) throw new Error(`The session was opened at event ${state.seq}.`);
    wholeMs.push((await opened(store, { ...withoutSnapshot(store) })).ms);
    await store.close();
  }
  return {
    events: length,
    snapshotMs: quantile(snapshotMs, 0.5),
    wholeMs: quantile(wholeMs, 0.5),
    heapBytes,
    messageBytes,
  };
}

/** Opens a session as a run does: claims it and folds its events. */
async function opened(
  owner: SessionStore,
  store: Store,
): Promise<{ ms: number; state: State; heap: number }> {
  globalThis.gc?.();
  const heapBefore = process.memoryUsage().heapUsed;
  const began = performance.now();
  await owner.claim('one');
  const state = await openSession(store, 'one');
  const ms = performance.now() - began;
  globalThis.gc?.();
  return { ms, state, heap: process.memoryUsage().heapUsed - heapBefore };
}

function withoutSnapshot(store: SessionStore): Store {
  return {
    claim: (sessionId) => store.claim(sessionId),
    append: (sessionId, events, writer) => store.append(sessionId, events, writer),
    read: (sessionId, afterSeq, limit) => store.read(sessionId, afterSeq, limit),
    sessions: () => store.sessions(),
  };
}

/** Writes the session as a log does, with snapshots. */
async function writeSession(file: string): Promise<void> {
  const store = sqliteStore(file);
  const epoch = await store.claim('one');
  const state = emptyState();
  for (let seq = 1; seq <= length; seq += 20) {
    const events = Array.from({ length: 20 }, (_, index) => eventAt('one', seq + index));
    await store.append('one', events, { epoch });
    for (const event of events) fold(state, event);
    store.keepSnapshot?.('one', state, { epoch });
  }
  await store.close();
}

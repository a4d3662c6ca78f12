import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Event } from '@cobbler/agent';
import { sqliteStore } from '@cobbler/agent/node';
import { eventAt } from './events.ts';
import type { AppendFigures } from './figures.ts';
import { cpuTime, mean, quantile } from './figures.ts';

const sessions = 64;
/** About the number of events in a long run. */
const rounds = 240;
/** Rounds that do not count, in which statements and code are compiled. */
const warmUp = 40;

/**
 * Measures sessions that append one event each at the same time, durably, and alternates with the minimum that stores
 * the same bytes equally safely: one table without an index, one transaction.
 */
export async function measureAppends(folder: string): Promise<AppendFigures> {
  const floor = openFloor(join(folder, 'floor.db'));
  const store = sqliteStore(join(folder, 'sessions.db'));
  const ids = Array.from({ length: sessions }, (_, index) => `session-${index}`);
  const epochs = await Promise.all(ids.map((id) => store.claim(id)));
  const figures = { floor: [] as number[], store: [] as number[], waits: [] as number[] };
  for (let seq = 1; seq <= rounds; seq += 1) {
    const events = ids.map((id) => eventAt(id, seq));
    const began = cpuTime();
    floor(events);
    const between = cpuTime();
    const called = performance.now();
    await Promise.all(
      events.map((event, index) =>
        store.append(ids[index] ?? '', [event], { epoch: epochs[index] ?? 0, durable: true }),
      ),
    );
    if (seq <= warmUp) continue;
    // All are notified at the same time, so the first one has waited longest.
    figures.waits.push(performance.now() - called);
    figures.store.push((cpuTime() - between) / sessions);
    figures.floor.push((between - began) / sessions);
  }
  await store.close();
  const { waits } = figures;
  return {
    // The mean, because pages are moved to the file only every few rounds.
    floorCpu: mean(figures.floor),
    storeCpu: mean(figures.store),
    waits: { p50: quantile(waits, 0.5), p99: quantile(waits, 0.99), most: quantile(waits, 1) },
  };
}

function openFloor(file: string): (events: readonly Event[]) => void {
  const db = new DatabaseSync(file);
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
  db.exec('CREATE TABLE events (place INTEGER PRIMARY KEY, session INTEGER, seq INTEGER, json TEXT) STRICT');
  const insert = db.prepare('INSERT INTO events (session, seq, json) VALUES (?, ?, ?)');
  const [begin, commit] = [db.prepare('BEGIN IMMEDIATE'), db.prepare('COMMIT')];
  return (events) => {
    begin.run();
    for (const [index, event] of events.entries()) insert.run(index, event.seq, JSON.stringify(event));
    commit.run();
  };
}

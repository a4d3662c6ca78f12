import { join } from 'node:path';
import { emptyState, fold } from '@cobbler/agent/events';
import { sqliteStore } from '@cobbler/agent/node';
import { eventAt } from '../store/events.ts';
import type { Programs } from './built.ts';
import type { Part } from './rows.ts';
import { pause, Stage } from './stage.ts';

/** The length of a session and the number of concurrent readers. */
export interface LongSize {
  readonly events: number;
  readonly readers: number;
}

/** Measures the cost of reading a long session, and the delay of other requests in the meantime. */
export async function measureLong(programs: Programs, home: string, size: LongSize): Promise<Part> {
  const stage = await Stage.open('cobbler', programs, home, (folder) => writeLong(folder, size.events));
  try {
    const path = '/v1/sessions/long';
    await stage.caller.ask('GET', '/livez');
    const before = (await stage.held()).rss;
    const messages = await timed(() => stage.caller.ask('GET', `${path}/messages`));
    const usage = await timed(() => stage.caller.ask('GET', `${path}/usage`));
    const again = await timed(() => stage.caller.ask('GET', `${path}/usage`));
    const approval = await timed(() => stage.caller.ask('GET', `${path}/approvals/none`));
    const replay = await replayed(stage, `${path}/events`, size);
    const after = (await stage.held()).rss;
    return {
      title: `a session of ${size.events.toLocaleString('en')} events that was never compacted`,
      rows: [
        { name: 'its messages', value: messages, unit: 'ms' },
        { name: 'its usage', value: usage, unit: 'ms' },
        { name: 'its usage again', value: again, unit: 'ms' },
        { name: 'an unknown approval', value: approval, unit: 'ms' },
        { name: `the whole session to ${size.readers} concurrent readers`, value: replay.ms, unit: 'ms' },
        {
          name: 'longest delay of another request in the meantime',
          value: replay.wait,
          unit: 'ms',
          most: 100,
        },
        { name: 'memory that remains in use', value: (after - before) / 1e6, unit: 'MB' },
      ],
    };
  } finally {
    await stage.close();
  }
}

async function replayed(
  stage: Stage,
  path: string,
  { events, readers }: LongSize,
): Promise<{ ms: number; wait: number }> {
  let isOver = false;
  let wait = 0;
  const other = async () => {
    while (!isOver) {
      wait = Math.max(wait, await timed(() => stage.caller.ask('GET', '/livez')));
      await pause(5);
    }
  };
  const asking = other();
  const ms = await timed(async () => {
    const watchers = await Promise.all(Array.from({ length: readers }, () => stage.caller.watch(path)));
    await Promise.all(watchers.map((watcher) => watcher.untilEvent(events)));
    for (const watcher of watchers) watcher.drop();
  });
  isOver = true;
  await asking;
  return { ms, wait };
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

/** Writes the session as a log does, with snapshots. */
async function writeLong(folder: string, length: number): Promise<void> {
  const store = sqliteStore(join(folder, 'sessions.db'));
  const epoch = await store.claim('long');
  const state = emptyState();
  for (let seq = 1; seq <= length; seq += 20) {
    const events = Array.from({ length: Math.min(20, length - seq + 1) }, (_, index) =>
      eventAt('long', seq + index),
    );
    await store.append('long', events, { epoch, release: true });
    for (const event of events) fold(state, event);
    store.keepSnapshot?.('long', state, { epoch });
  }
  await store.close();
}

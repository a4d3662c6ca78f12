import { describe, expect, it } from 'vitest';
import type { Event, LiveEvent, RunEvent } from '../../src/events/event.ts';
import { Feed } from '../../src/run/feed.ts';
import { answered, place, said } from '../support/fold-story.ts';

const stored = (seq: number): Event => place(said(`${seq}`), seq);
const delta: LiveEvent = { type: 'text_delta', index: 0, text: 'x' };
const started = { type: 'started', v: 1, sessionId: 's', runId: 'r' } as const;

async function drain(reader: AsyncIterator<RunEvent>): Promise<RunEvent[]> {
  const seen: RunEvent[] = [];
  for (let next = await reader.next(); next.done !== true; next = await reader.next()) seen.push(next.value);
  return seen;
}

describe('a feed', () => {
  it('gives each reader the first event and the stored events, and later live ones', async () => {
    const feed = new Feed();
    feed.publish(started);
    feed.publish(stored(1));
    feed.live(delta);
    const reader = feed.read();
    feed.live(delta);
    feed.publish(stored(2));
    feed.publish(place(answered([{ type: 'text', text: 'xx' }]), 3));
    const last = feed.read();
    feed.end();
    const answer = place(answered([{ type: 'text', text: 'xx' }]), 3);
    expect(await drain(reader)).toEqual([started, stored(1), delta, delta, stored(2), answer]);
    expect(await drain(last)).toEqual([started, stored(1), stored(2), answer]);
  });

  it('gives a reader that joins during a response the whole response once', async () => {
    const feed = new Feed();
    const thinking = { type: 'status', state: 'thinking' } as const;
    feed.publish(started);
    feed.live(thinking);
    for (const text of ['Hel', 'lo ', 'you']) feed.live({ ...delta, text });
    const reader = feed.read();
    feed.live({ ...delta, text: '.' });
    feed.end();
    const soFar = { ...delta, text: 'Hello you' };
    expect(await drain(reader)).toEqual([started, thinking, soFar, { ...delta, text: '.' }]);
  });

  it('gives the current state to a reader that joins during an approval', async () => {
    const feed = new Feed();
    const waiting = { type: 'status', state: 'waiting' } as const;
    feed.live(waiting);
    const [asked, decided] = [feed.read(), { approvalId: 'a', decision: 'allow', waitedMs: 1 } as const];
    feed.publish(place({ type: 'approval_decided', ...decided }, 1));
    const later = feed.read();
    feed.end();
    expect((await drain(asked))[0]).toEqual(waiting);
    expect((await drain(later)).map(({ type }) => type)).toEqual(['approval_decided']);
  });

  it('subscribes a reader when it is created, not at its first call of next', async () => {
    const feed = new Feed();
    const reader = feed.read();
    feed.live(delta);
    feed.end();
    expect(await drain(reader)).toEqual([delta]);
  });

  it('a slow reader keeps every stored event and at most ten thousand live ones [P18]', async () => {
    const feed = new Feed();
    const reader = feed.read();
    for (let seq = 1; seq <= 20_000; seq += 1) {
      feed.live(delta);
      feed.publish(stored(seq));
    }
    feed.end();
    const seen = await drain(reader);
    expect(seen.filter((event) => 'seq' in event)).toHaveLength(20_000);
    expect(seen.length).toBe(30_000);
  });

  it('a slow reader keeps every stored event and at most 16 MiB of live ones [P18, P29]', async () => {
    const feed = new Feed();
    const reader = feed.read();
    const text = 'x'.repeat(1_048_576);
    for (let seq = 1; seq <= 40; seq += 1) {
      feed.live({ ...delta, text });
      feed.publish(stored(seq));
    }
    const seen: RunEvent[] = [];
    for (let count = 0; count < 55; count += 1) seen.push((await reader.next()).value);
    expect(seen.filter((event) => 'seq' in event)).toHaveLength(40);
    expect(seen).toHaveLength(55);
    feed.live({ ...delta, text });
    feed.live({ ...delta, text: 'fresh' });
    feed.end();
    expect(await drain(reader)).toHaveLength(2);
  });

  it('a reader for which nothing waits receives a live event of any size', async () => {
    const feed = new Feed();
    const reader = feed.read();
    const large = { ...delta, text: 'x'.repeat(20_000_000) };
    feed.live(large);
    feed.live(delta);
    feed.end();
    expect(await drain(reader)).toEqual([large]);
  });

  it('a reader that has caught up receives live events again', async () => {
    const feed = new Feed();
    const reader = feed.read();
    for (let count = 0; count < 10_001; count += 1) feed.live(delta);
    for (let count = 0; count < 10_000; count += 1) await reader.next();
    feed.live({ ...delta, text: 'fresh' });
    expect(await reader.next()).toEqual({ done: false, value: { ...delta, text: 'fresh' } });
  });

  it('shows nothing after its end', async () => {
    const feed = new Feed();
    const seen: RunEvent[] = [];
    feed.listen((event) => seen.push(event));
    const reader = feed.read();
    feed.end();
    feed.live(delta);
    expect(seen).toEqual([]);
    expect(await drain(reader)).toEqual([]);
  });

  it('errors and rejections of a listener affect nothing else [P18]', async () => {
    const feed = new Feed();
    const seen: RunEvent[] = [];
    feed.listen(() => {
      throw new Error('no');
    });
    feed.listen((() => Promise.reject(new Error('no'))) as () => void);
    feed.listen((event) => seen.push(event));
    feed.publish(stored(1));
    await new Promise((resolve) => setImmediate(resolve));
    expect(seen).toEqual([stored(1)]);
  });
});

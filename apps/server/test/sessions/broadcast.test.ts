import type { Event, LiveEvent } from '@cobbler/agent';
import type { UnstoredEnd } from '@cobbler/agent/events';
import { emptyState } from '@cobbler/agent/events';
import { expect, test } from 'vitest';
import type { Sink, StreamPosition } from '../../src/sessions/broadcast.ts';
import { Broadcast } from '../../src/sessions/broadcast.ts';
import { moment } from '../support/rig.ts';

const said = (seq: number): Event => ({
  v: 1,
  seq,
  id: `s-${seq}`,
  time: '2026-01-01T00:00:00.000Z',
  runId: 'run',
  type: 'user',
  content: [{ type: 'text', text: `Words ${seq}.` }],
});

/** Returns a client that records the received ids and how often its stream was ended. */
function sink(): Sink & { readonly ids: string[]; ended: number } {
  const ids: string[] = [];
  return {
    ids,
    ended: 0,
    tokenId: 'token',
    closed: false,
    write: (bytes) =>
      void ids.push(
        ...[
          ...Buffer.from(bytes)
            .toString()
            .matchAll(/^id: (\S+)/gm),
        ].map(([, id = '']) => id),
      ),
    room: async () => undefined,
    end() {
      this.ended += 1;
    },
  };
}

/** Returns a client that records each received block. */
function texts(): Sink & { readonly blocks: string[] } {
  const blocks: string[] = [];
  const write = (bytes: Uint8Array | string) =>
    void blocks.push(...Buffer.from(bytes).toString().split('\n\n').slice(0, -1));
  return { ...sink(), blocks, write };
}

const place: StreamPosition = { form: 'versioned', seq: 0, live: true };

test('a client loses no event that is published while it reads the log [P16]', async () => {
  const log = [said(1)];
  let reads = 0;
  const broadcast: Broadcast = new Broadcast(async (after) => {
    const found = log.filter(({ seq }) => seq > after);
    reads += 1;
    if (reads === 1) {
      log.push(said(2));
      broadcast.publish(said(2));
    }
    return found;
  });
  const reader = sink();
  await broadcast.join(reader, place);
  broadcast.publish(said(3));
  await moment();
  expect(reader.ids).toEqual(['1', '2', '3']);
});

test('a client does not receive an event again that it has read from the log [P16]', async () => {
  const log = [said(1), said(2)];
  const broadcast = new Broadcast((after) => log.filter(({ seq }) => seq > after));
  broadcast.publish(said(1));
  const reader = sink();
  await broadcast.join(reader, place);
  broadcast.publish(said(2));
  broadcast.publish(said(3));
  await moment();
  expect(reader.ids).toEqual(['1', '2', '3']);
});

test('a client that disconnects while it reads the log is removed', async () => {
  const broadcast = new Broadcast(() => [said(1)]);
  await broadcast.join({ ...sink(), closed: true }, place);
  expect(broadcast.size).toBe(0);
});

test('a slow client does not delay others', async () => {
  const broadcast = new Broadcast((after) => [said(1), said(2)].filter(({ seq }) => seq > after));
  const slow = { ...sink(), room: () => new Promise<void>(() => undefined) };
  void broadcast.join(slow, place);
  const quick = sink();
  await broadcast.join(quick, place);
  broadcast.publish(said(3));
  await moment();
  expect(quick.ids).toEqual(['1', '2', '3']);
  expect(broadcast.size).toBe(2);
});

test('many clients receive each event in order, and the server yields between batches [P16]', async () => {
  const broadcast = new Broadcast(() => []);
  const readers = Array.from({ length: 300 }, () => sink());
  for (const reader of readers) await broadcast.join(reader, place);
  broadcast.publish(said(1));
  await moment();
  // The write is split: the last clients have nothing yet, and a new client gets only later events.
  expect(readers.at(-1)?.ids).toEqual([]);
  const late = sink();
  await broadcast.join(late, { ...place, seq: 1 });
  broadcast.publish(said(2));
  for (let turn = 0; turn < 10; turn += 1) await moment();
  expect(readers.every(({ ids }) => ids.join() === '1,2')).toBe(true);
  expect(late.ids).toEqual(['2']);
});

test('a client does not receive live events from before it joined [P16]', async () => {
  const broadcast = new Broadcast(() => []);
  await broadcast.join(sink(), place);
  broadcast.publish({ type: 'text_delta', index: 0, text: 'Before.' });
  const texts: string[] = [];
  const reader = { ...sink(), write: (bytes: Uint8Array | string) => void texts.push(String(bytes)) };
  await broadcast.join(reader, place);
  broadcast.publish({ type: 'text_delta', index: 0, text: 'After.' });
  await moment();
  await moment();
  expect(texts.join('')).not.toContain('Before.');
  expect(texts.join('')).toContain('After.');
});

test('a client that joins during a response receives the text so far, then the rest [P16]', async () => {
  const log = [said(1)];
  const delta = (text: string) => ({ type: 'text_delta', index: 0, text }) as const;
  let soFar: LiveEvent[] = [];
  const read = (after: number) => log.filter(({ seq }) => seq > after);
  const broadcast = new Broadcast(read, () => soFar);
  broadcast.publish(said(1));
  const show = (text: string) => {
    soFar = [delta(`${soFar.map((event) => ('text' in event ? event.text : '')).join('')}${text}`)];
    broadcast.publish(delta(text));
  };
  const first = answerTexts();
  await broadcast.join(first, place);
  show('One ');
  const late = answerTexts();
  await broadcast.join(late, place);
  show('two');
  await moment();
  expect(first.told).toEqual(['One ', 'two']);
  expect(late.told).toEqual([['One '], 'two']);
});

test('a response that the log contains is not sent again as the current one [P16]', async () => {
  const { v, seq, id, time, runId } = said(2);
  const error = { kind: 'aborted', message: 'stopped' } as const;
  const answer: Event = { v, seq, id, time, runId, type: 'ask_failed', error, durationMs: 1 };
  const log: Event[] = [said(1), answer];
  const read = (after: number) => log.filter(({ seq }) => seq > after);
  const broadcast = new Broadcast(read, () => [{ type: 'text_delta', index: 0, text: 'One' }]);
  broadcast.publish(said(1));
  const reader = answerTexts();
  await broadcast.join(reader, place);
  broadcast.publish(answer);
  await moment();
  expect(reader.told).toEqual([]);
});

/** Returns a client that records received text; it records the text so far as a list. */
function answerTexts(): Sink & { readonly told: unknown[] } {
  const told: unknown[] = [];
  const textOf = (json: { type?: string; text?: string; events?: { text?: string }[] }): unknown[] => {
    if (json.type === 'so_far') return [json.events?.map(({ text }) => text)];
    return json.type === 'text_delta' ? [json.text] : [];
  };
  const write = (bytes: Uint8Array | string) => {
    const frames = Buffer.from(bytes)
      .toString()
      .matchAll(/^data: (.*)$/gm);
    for (const [, data = '{}'] of frames) told.push(...textOf(JSON.parse(data)));
  };
  return { ...sink(), told, write };
}

test('a client receives the log page by page, no faster than it reads [P16]', async () => {
  const log = Array.from({ length: 1_000 }, (_, index) => said(index + 1));
  const asked: number[] = [];
  const broadcast = new Broadcast((after, limit) => {
    asked.push(limit);
    return log.slice(after, after + limit);
  });
  const reader = sink();
  let rooms = 0;
  const room = async () => {
    rooms += 1;
  };
  await broadcast.join({ ...reader, room }, place);
  expect(reader.ids).toHaveLength(1_000);
  expect(Math.max(...asked)).toBeLessThanOrEqual(100);
  expect(rooms).toBeGreaterThanOrEqual(4);
});

const unstored: UnstoredEnd = {
  v: 1,
  time: '2026-01-01T00:00:00.000Z',
  runId: 'run',
  type: 'finished',
  status: 'failed',
  error: { kind: 'agent', code: 'store', message: 'The event store failed.' },
  metrics: emptyState().metrics,
};

test('an unstored end is sent without an id, also to new clients, until the log continues [P13, P16]', async () => {
  const log: Event[] = [];
  const broadcast = new Broadcast((after, limit) => log.slice(after, after + limit));
  const watching = texts();
  await broadcast.join(watching, place);
  log.push(said(1));
  broadcast.publish(said(1));
  broadcast.publish(unstored);
  await moment();
  const late = texts();
  await broadcast.join(late, { ...place, live: false });
  for (const reader of [watching, late]) {
    expect(reader.blocks.map((block) => block.match(/^id: (.*)/)?.[1])).toEqual(['1', undefined]);
    expect(reader.blocks.at(-1)).toBe(`data: ${JSON.stringify(unstored)}`);
  }
  log.push(said(2));
  broadcast.publish(said(2));
  const later = sink();
  await broadcast.join(later, place);
  expect(later.ids).toEqual(['1', '2']);
  // The end of a run that wrote no event is sent only to the connected clients.
  broadcast.publish({ ...unstored, runId: 'refused' });
  const last = texts();
  await broadcast.join(last, place);
  expect(last.blocks.map((block) => block.match(/^id: (.*)/)?.[1])).toEqual(['1', '2']);
});

test('a stored event out of order is not sent, and the streams end [P16]', async () => {
  for (const [before, seq] of [
    [2, 4],
    [2, 2],
    [2, 1],
  ] as const) {
    const broadcast = new Broadcast((after) => [said(1), said(2)].slice(after, before));
    const reader = sink();
    await broadcast.join(reader, place);
    broadcast.publish(said(seq));
    await moment();
    expect([reader.ids, reader.ended, broadcast.size]).toEqual([['1', '2'], 1, 0]);
    expect(broadcast.lastSeq).toBe(seq);
  }
});

test('clients of a deleted log are disconnected, and new ones read the new log [P16]', async () => {
  let log = [said(1), said(2), said(3)];
  const broadcast = new Broadcast((after, limit) => log.slice(after, after + limit));
  const old = sink();
  await broadcast.join(old, place);
  log = [said(1)];
  const fresh = sink();
  await broadcast.join(fresh, place);
  expect([old.ended, fresh.ended]).toEqual([1, 0]);
  log.push(said(2));
  for (const event of await broadcast.readMissed()) broadcast.publish(event);
  await moment();
  expect([old.ids, fresh.ids]).toEqual([
    ['1', '2', '3'],
    ['1', '2'],
  ]);
});

test('only events after the last published one count as missed, and none without clients [P16]', async () => {
  const log = [said(1), said(2), said(3)];
  const broadcast = new Broadcast((after, limit) => log.slice(after, after + limit));
  expect(await broadcast.readMissed()).toEqual([]);
  const reader = sink();
  await broadcast.join(reader, place);
  expect(await broadcast.readMissed()).toEqual([]);
  log.push(said(4));
  expect(await broadcast.readMissed()).toEqual([said(4)]);
  broadcast.publish(said(4));
  expect(await broadcast.readMissed()).toEqual([]);
});

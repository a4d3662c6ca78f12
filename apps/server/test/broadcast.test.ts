import type { Event } from '@cobbler/agent';
import { expect, test } from 'vitest';
import type { Place, Sink } from '../src/broadcast.ts';
import { Broadcast } from '../src/broadcast.ts';
import { moment } from './rig.ts';

const said = (seq: number): Event => ({
  v: 1,
  seq,
  id: `s-${seq}`,
  time: '2026-01-01T00:00:00.000Z',
  runId: 'run',
  type: 'user',
  content: [{ type: 'text', text: `Words ${seq}.` }],
});

/** A reader that notes the ids it is told. */
function sink(): Sink & { readonly ids: string[] } {
  const ids: string[] = [];
  return {
    ids,
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
    onClose: () => undefined,
    end: () => undefined,
  };
}

const place: Place = { form: 'versioned', seq: 0, live: true };

test('P16 what is committed and shown while a reader is told what it missed is not lost', async () => {
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

test('P16 what a reader found in the log is not told again when it is shown', async () => {
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

test('a reader that has left while it was told what it missed is not kept', async () => {
  const broadcast = new Broadcast(() => [said(1)]);
  await broadcast.join({ ...sink(), closed: true }, place);
  expect(broadcast.size).toBe(0);
});

test('a reader that takes its time holds up nobody', async () => {
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

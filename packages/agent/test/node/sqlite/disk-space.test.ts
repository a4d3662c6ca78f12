import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Executor } from '../../../src/loop/executor.ts';
import type { SessionStore } from '../../../src/store/store.ts';
import { probeTools } from '../../../src/testing/probe-tools.ts';
import { calls, scriptedModel } from '../../../src/testing/scripted-model.ts';
import { answered, eventsOf, wholeRun, write } from '../../../src/testing/stored-events.ts';
import { newFile, open, refusal, testFolder } from './rig.ts';

const filler = 'x'.repeat(20_000);

/** Appends until the store is full; returns the number of stored events and the error. */
async function fill(
  store: SessionStore,
  sessionId: string,
): Promise<{ kept: number; code: string | undefined; message: string }> {
  const epoch = await store.claim(sessionId);
  for (let seq = 1; ; seq += 1) {
    const append = () => store.append(sessionId, eventsOf(sessionId, [answered(filler)], seq - 1), { epoch });
    try {
      await append();
    } catch {
      return { kept: seq - 1, ...(await refusal(append)) };
    }
  }
}

/** Checks what a full store guarantees, whether the disk or its own limit is reached. */
async function checkFull(store: SessionStore): Promise<void> {
  await write(store, 'before', wholeRun());
  const { kept, code, message } = await fill(store, 'big');
  expect(code).toMatch(/^store_(full|io)$/);
  if (code === 'store_full')
    expect(message).toContain('No stored data was lost. Free disk space or delete old sessions.');
  expect(kept).toBeGreaterThan(3);
  expect(await store.read('big')).toHaveLength(kept);
  expect(await store.read('before')).toHaveLength(wholeRun().length);
  expect((await store.info('big'))?.events).toBe(kept);
}

test('a store at its size limit rejects new events and loses nothing [P13]', async () => {
  const store = open(newFile(), { maxBytes: 500_000 });
  await checkFull(store);
  expect(await store.delete('big')).toBe(true);
  const { kept } = await fill(store, 'next');
  expect(kept).toBeGreaterThan(3);
});

test('an event that does not fit does not affect others in its transaction [P13]', async () => {
  const store = open(newFile(), { maxBytes: 500_000 });
  const ids = ['a', 'b', 'c', 'd'];
  const epochs = await Promise.all(ids.map((id) => store.claim(id)));
  const outcomes = await Promise.all(
    ids.map((id, index) => {
      const text = id === 'b' ? filler.repeat(50) : id;
      const events = eventsOf(id, [answered(text)]);
      return Promise.resolve(store.append(id, events, { epoch: epochs[index] ?? 0 })).then(
        () => 'kept',
        (error) => error.code,
      );
    }),
  );
  expect(outcomes).toEqual(['kept', 'store_full', 'kept', 'kept']);
  expect(await store.sessions()).toEqual(['a', 'c', 'd']);
});

test('a run with a full store fails, and runs no tool that it could not record [P13, P9]', async () => {
  const store = open(newFile(), { maxBytes: 300_000 });
  const { tool, names } = probeTools();
  const agent = scriptedModel(
    Array.from({ length: 60 }, (_, turn) => calls([{ name: 'save', arguments: { turn, text: filler } }])),
  );
  const executor = new Executor({ agent, tools: [tool('save')], store, limits: { turns: 60 } });
  const result = await executor.run('Go.', { sessionId: 'one' });
  expect([result.status, result.error?.code]).toEqual(['failed', 'store']);
  expect(result.error?.message).toContain('There is no space left for');
  const stored = await store.read('one');
  expect(names.length).toBeLessThanOrEqual(stored.filter(({ type }) => type === 'tool_started').length);
  expect(names.length).toBeGreaterThan(0);
  expect(agent.requests.length).toBeLessThan(60);
});

test('a full disk is reported and loses nothing [P13]', async ({ skip }) => {
  const disk = join(testFolder(), 'disk');
  mkdirSync(disk);
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', disk], { stdio: 'ignore' });
  if (status !== 0) return skip('only root on Linux can mount a small disk');
  onTestFinished(() => void spawnSync('umount', ['-l', disk]));
  const store = open(join(disk, 'sessions.db'));
  await checkFull(store);
  await store.close();
  // The store can be opened and read although nothing can be written.
  writeFileSync(join(disk, 'rest'), '');
  const again = open(join(disk, 'sessions.db'));
  expect(await again.read('before')).toHaveLength(wholeRun().length);
});

import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { forkSession } from '@cobbler/agent/fork';
import { sqliteStore } from '@cobbler/agent/node';
import { said, write } from '@cobbler/agent/testing';
import { expect, onTestFinished, test } from 'vitest';
import type { ServedFolder } from '../../src/server/serve-folders.ts';
import { ServeFolders, servedFolders } from '../../src/server/serve-folders.ts';
import { SessionNotes } from '../../src/session/session-metadata.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** Returns the directories of a server in a new home directory, and its store. */
async function stage() {
  const home = temporaryFolder();
  const [first, second] = ['first', 'second'].map((name) => join(home, name)) as [string, string];
  for (const folder of [first, second]) mkdirSync(folder);
  const steps: string[] = [];
  const open = async (folder: string) => {
    if (folder === second && steps.includes('refuse')) throw new Error('It has an invalid file.');
    steps.push(`open ${folder}`);
    return {
      note: { folder, model: 'claude:m' },
      tools: () => [],
      permission: { offers: () => ['run_command(x)'], allow: (rule: string) => steps.push(`allow ${rule}`) },
      forget: async (id: string) => void steps.push(`forget ${id} in ${folder}`),
      close: async () => void steps.push(`close ${folder}`),
    } as unknown as ServedFolder;
  };
  const tokens = join(home, 'server-tokens.json');
  const folders = new ServeFolders({ first, others: [second], tokens, open, env: { COBBLER_HOME: home } });
  const kept = sqliteStore(join(home, 'sessions.db'));
  onTestFinished(() => kept.close());
  const store = folders.watch(kept);
  await folders.start();
  return { folders, store, kept, first, second, steps, notes: new SessionNotes(join(home, 'sessions')) };
}

test('a server knows which sessions it has run last, and continues only those', async () => {
  const { folders, store, notes, first, second } = await stage();
  await write(store, 'a', [said('Hi.')]);
  expect([folders.isOwn('a'), folders.folderOf('a')]).toEqual([true, first]);
  notes.write('t', { folder: second, model: 'claude:other' });
  expect(folders.isOwn('t')).toBe(false);
  await write(store, 't', [said('Hi.')]);
  expect(notes.read('t')).toEqual({ folder: second, model: 'claude:other', by: 'server' });
  // The command line continues it.
  notes.write('a', { folder: first });
  expect(folders.isOwn('a')).toBe(false);
});

test('a session works in its own directory, and so does a copy of it', async () => {
  const { folders, store, first, second } = await stage();
  folders.choose('b', second);
  expect(await folders.open('b')).toBeUndefined();
  expect([folders.of('b').note.folder, folders.of('other').note.folder]).toEqual([second, first]);
  await write(store, 'b', [said('Hi.')]);
  await forkSession(store, { from: 'b', to: 'c' }, { now: () => 1 });
  expect(folders.folderOf('c')).toBe(second);
});

test('the directories of the command line and of earlier sessions are offered while they exist', async () => {
  const { folders, store, first, second } = await stage();
  const earlier = temporaryFolder();
  folders.choose('b', earlier);
  await write(store, 'b', [said('Hi.')]);
  expect(await folders.folders()).toEqual([first, second, earlier]);
  rmSync(earlier, { recursive: true });
  expect(await folders.folders()).toEqual([first, second]);
});

test('a directory that cannot be opened is the reason why no run starts, until it can', async () => {
  const { folders, second, steps } = await stage();
  folders.choose('b', second);
  steps.push('refuse');
  expect(await folders.open('b')).toMatch(/cannot be used\. It has an invalid file\./);
  steps.length = 0;
  expect(await folders.open('b')).toBeUndefined();
});

test('a deleted session ends what it has started before another user can use its id', async () => {
  const { folders, store, kept, notes, first, steps } = await stage();
  await write(store, 'a', [said('Hi.')]);
  await kept.append('a', [], { epoch: await kept.claim('a'), release: true });
  expect(await store.delete('a')).toBe(true);
  expect([steps.includes(`forget a in ${first}`), notes.read('a')]).toEqual([true, undefined]);
  await folders.close();
  expect(steps.at(-1)).toBe(`close ${first}`);
});

test('a directory that does not exist is refused', () => {
  expect(() => servedFolders(['/does/not/exist'], { cwd: () => '/' })).toThrow(/does\/not\/exist/);
});

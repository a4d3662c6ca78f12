import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Tool, ToolContext } from '@cobbler/agent';
import { forkSession } from '@cobbler/agent/fork';
import { sqliteStore } from '@cobbler/agent/node';
import { said, scriptedAgent, write } from '@cobbler/agent/testing';
import { BackgroundCommands } from '@cobbler/tools';
import { expect, onTestFinished, test } from 'vitest';
import type { ServedFolder } from '../../src/server/serve-folders.ts';
import { ServeFolders, servedFolders } from '../../src/server/serve-folders.ts';
import type { OpenModel } from '../../src/server/session-models.ts';
import { SessionModels } from '../../src/server/session-models.ts';
import { SessionNotes } from '../../src/session/session-metadata.ts';
import type { UndoHistory } from '../../src/session/undo-history.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** Returns the directories of a server in a new home directory, and its store. */
async function stage() {
  const home = temporaryFolder();
  const [first, second] = ['first', 'second'].map((name) => join(home, name)) as [string, string];
  for (const folder of [first, second]) mkdirSync(folder);
  const steps: string[] = [];
  const background = new BackgroundCommands();
  const models = stagedModels();
  const open = async (folder: string, undo: UndoHistory) => {
    if (folder === second && steps.includes('refuse')) throw new Error('It has an invalid file.');
    steps.push(`open ${folder}`);
    return {
      note: { folder, model: 'claude:m' },
      tools: () => undo.watchTools([writer(folder)]),
      background,
      permission: { offers: () => ['run_command(x)'], allow: (rule: string) => steps.push(`allow ${rule}`) },
      forget: async (id: string) => void steps.push(`forget ${id} in ${folder}`),
      close: async () => void steps.push(`close ${folder}`),
    } as unknown as ServedFolder;
  };
  const tokens = join(home, 'server-tokens.json');
  const options = { first, others: [second], tokens, open, env: { COBBLER_HOME: home } };
  const folders = new ServeFolders({ ...options, models });
  const kept = sqliteStore(join(home, 'sessions.db'));
  onTestFinished(() => kept.close());
  const store = folders.watch(kept);
  await folders.start();
  const notes = new SessionNotes(join(home, 'sessions'));
  const restarted = () => {
    const later = stagedModels();
    return { folders: new ServeFolders({ ...options, models: later }), models: later };
  };
  return { folders, store, kept, first, second, steps, notes, models, background, restarted };
}

function stagedModels(): SessionModels {
  const modelOf = (model: string) => ({ agent: { ...scriptedAgent([]), model }, pricing: () => undefined });
  const open: OpenModel = async ({ model = 'first' }) => modelOf(model);
  return new SessionModels({ list: [{ name: 'best' }], first: modelOf('first'), open });
}

function writer(folder: string): Tool {
  const write: Tool['execute'] = ({ path, content }) =>
    writeFileSync(join(folder, String(path)), String(content));
  return { name: 'write_file', description: '', parameters: { type: 'object' }, execute: write };
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

test('what a run has changed is undone in the directory of its session only, and the history follows a copy', async () => {
  const { folders, store, first, second } = await stage();
  folders.choose('b', second);
  expect(folders.placeOf('b')).toBeUndefined();
  await folders.open('b');
  for (const id of ['a', 'b']) {
    await write(store, id, [said('Hi.')]);
    const [tool] = folders.of(id).tools();
    await tool?.execute({ path: 'a.txt', content: id }, { sessionId: id } as ToolContext);
  }
  const { runId = '' } = (await store.read('b'))[0] ?? {};
  const { undo } = folders.placeOf('b') ?? {};
  const files = (await undo?.restorations('b', new Set([runId]))) ?? [];
  expect(files.map(({ path, before }) => [path, before])).toEqual([['a.txt', null]]);
  await forkSession(store, { from: 'b', to: 'c' }, { now: () => 1 });
  expect(await undo?.restorations('c', new Set([runId]))).toHaveLength(1);
  await undo?.undo(files, 'b', 'c', 1);
  expect(() => readFileSync(join(second, 'a.txt'))).toThrow('ENOENT');
  expect(readFileSync(join(first, 'a.txt'), 'utf8')).toBe('a');
  await store.delete('b');
  expect(await undo?.restorations('b', new Set([runId]))).toEqual([]);
});

test('plan mode is stored with its session and its copies, ends with an approved plan, and never changes unnoticed', async () => {
  const { folders, store, restarted, first, notes } = await stage();
  await write(store, 'a', [said('Hi.')]);
  folders.plan('a', true);
  await forkSession(store, { from: 'a', to: 'b' }, { now: () => 1 });
  const { planned } = folders.of('a').permission;
  expect(['a', 'b', 'c'].map((id) => planned.has(id))).toEqual([true, true, false]);
  planned.end('b');
  // A run in a terminal leaves the mark.
  notes.write('a', { folder: first, model: 'claude:m' });
  const { folders: later } = restarted();
  expect([later.plans('a'), later.plans('b'), notes.read('a')]).toEqual([
    true,
    false,
    { folder: first, model: 'claude:m', plans: true },
  ]);
  // The note cannot be written.
  rmSync(notes.path('c', 'json'), { force: true });
  mkdirSync(notes.path('c', 'json'));
  expect(() => folders.plan('c', true)).toThrow('Plan mode was not changed');
});

test('a chosen model is stored with its session, and forgotten with it', async () => {
  const { folders, store, kept, models, restarted } = await stage();
  await write(store, 'a', [said('Hi.')]);
  await models.choose('a', { model: 'best' });
  const later = restarted();
  await later.folders.open('a');
  await later.folders.open('other');
  expect(['a', 'other'].map((id) => later.models.of(id).model)).toEqual(['best', 'first']);
  await kept.append('a', [], { epoch: await kept.claim('a'), release: true });
  await store.delete('a');
  expect(models.of('a').model).toBe('first');
  const last = restarted();
  await last.folders.open('a');
  expect(last.models.of('a').model).toBe('first');
  expect(folders.folderOf('a')).toBeUndefined();
});

test('a directory that does not exist is refused', () => {
  expect(() => servedFolders(['/does/not/exist'], { cwd: () => '/' })).toThrow(/does\/not\/exist/);
});

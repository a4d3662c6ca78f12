import { appendFileSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Tool, ToolContext } from '@cobbler/agent';
import { expect, test } from 'vitest';
import { UndoHistory } from '../../src/session/undo-history.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const context = { sessionId: 's' } as ToolContext;

/** Creates a tool that writes a file and then may fail. */
function writer(folder: string, name = 'write_file'): Tool {
  return {
    name,
    description: 'Writes.',
    parameters: { type: 'object' },
    execute({ path, text, fails }) {
      writeFileSync(join(folder, String(path)), String(text));
      if (fails === true) throw new Error('cut off');
      return 'ok';
    },
  };
}

function book() {
  const [folder, kept] = [temporaryFolder(), temporaryFolder()];
  writeFileSync(join(folder, 'a.txt'), 'one');
  const undo = new UndoHistory(folder, kept);
  undo.begin('s', 'r');
  const [tool] = undo.watchTools([writer(folder)]);
  const write = async (path: string, text: string, fails = false) =>
    await tool?.execute({ path, text, fails }, context);
  return { folder, kept, undo, write, read: (path: string) => readFileSync(join(folder, path), 'utf8') };
}

const run = new Set(['r']);

test('undoes the edit of a failed call', async () => {
  const { undo, write, read } = book();
  await expect(write('a.txt', 'half', true)).rejects.toThrow('cut off');
  await undo.undo(await undo.restorations('s', run), 's', 's', 1);
  expect(read('a.txt')).toBe('one');
});

test('restores an edited or deleted file and removes a new file', async () => {
  const { undo, write, read, folder } = book();
  await write('a.txt', 'two');
  await write('./a.txt', 'three');
  await write('new.txt', 'new');
  rmSync(join(folder, 'a.txt'));
  const restorations = await undo.restorations('s', run);
  expect(restorations.map(({ path, isChanged }) => [path, isChanged])).toEqual([
    ['a.txt', true],
    ['new.txt', false],
  ]);
  await undo.undo(restorations, 's', 'before', 4);
  expect(read('a.txt')).toBe('one');
  expect(() => read('new.txt')).toThrow('ENOENT');
});

test('an undo can be taken back once, by another process too, and tells what has changed since', async () => {
  const { folder, kept, undo, write, read } = book();
  await write('a.txt', 'two');
  await write('new.txt', 'new');
  undo.copy('s', 'before');
  await undo.undo(await undo.restorations('s', run), 's', 'before', 4);
  const later = new UndoHistory(folder, kept);
  expect(later.undone('s')).toBeUndefined();
  const undone = later.undone('before');
  if (undone === undefined) throw new Error('There is no undo.');
  expect(undone).toMatchObject({ from: 's', seq: 4 });
  writeFileSync(join(folder, 'new.txt'), 'theirs');
  const files = await later.restorations('before', new Set([undone.runId]));
  expect(files.map(({ path, isChanged }) => [path, isChanged])).toEqual([
    ['a.txt', false],
    ['new.txt', true],
  ]);
  await later.redo('before', undone, files);
  expect([read('a.txt'), read('new.txt')]).toEqual(['two', 'new']);
  expect([later.undone('before'), undo.undone('before')]).toEqual([undefined, undefined]);
  // The run can be undone again.
  expect(await undo.restorations('s', run)).toHaveLength(2);
});

test('sessions that work at the same time keep their edits apart, and a deleted one leaves none', async () => {
  const { kept, undo, write, folder } = book();
  undo.begin('t', 'other');
  await write('a.txt', 'two');
  const [tool] = undo.watchTools([writer(folder)]);
  await tool?.execute({ path: 'b.txt', text: 'b' }, { ...context, sessionId: 't' });
  const pathsOf = async (id: string, runId: string) =>
    (await undo.restorations(id, new Set([runId]))).map(({ path }) => path);
  expect([await pathsOf('s', 'r'), await pathsOf('t', 'other')]).toEqual([['a.txt'], ['b.txt']]);
  undo.forget('s');
  expect([await pathsOf('s', 'r'), await pathsOf('t', 'other')]).toEqual([[], ['b.txt']]);
  expect(readdirSync(kept)).toEqual(['t.jsonl']);
});

test('a line that was cut off hides no other line', async () => {
  const { kept, undo, write } = book();
  await write('a.txt', 'two');
  appendFileSync(join(kept, 's.jsonl'), '{"runId":"r","pa');
  await write('b.txt', 'b');
  expect((await undo.restorations('s', run)).map(({ path }) => path)).toEqual(['a.txt', 'b.txt']);
});

test('undoes edits from another process, and for a copy of the session', async () => {
  const { folder, kept, write } = book();
  await write('a.txt', 'two');
  const later = new UndoHistory(folder, kept);
  expect(await later.restorations('s', run)).toHaveLength(1);
  expect(await later.restorations('s', new Set(['other']))).toEqual([]);
  later.copy('s', 't');
  expect(await new UndoHistory(folder, kept).restorations('t', run)).toHaveLength(1);
});

test('neither stores nor restores files outside the directory', async () => {
  const { folder, kept, undo, write } = book();
  const outside = temporaryFolder();
  writeFileSync(join(outside, 'secret'), 'theirs');
  symlinkSync(outside, join(folder, 'link'));
  await write('link/secret', 'mine');
  expect(await undo.restorations('s', run)).toEqual([]);
  expect(() => readFileSync(join(kept, 's.jsonl'))).toThrow('ENOENT');
});

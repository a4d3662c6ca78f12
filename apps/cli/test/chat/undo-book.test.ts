import { readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Tool, ToolContext } from '@cobbler/agent';
import { expect, test } from 'vitest';
import { UndoHistory } from '../../src/chat/undo-history.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const context = {} as ToolContext;

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
  await undo.restore(await undo.restorations('s', run));
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
  await undo.restore(restorations);
  expect(read('a.txt')).toBe('one');
  expect(() => read('new.txt')).toThrow('ENOENT');
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

import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { folderWatcher } from '../../src/project/watch-folder.ts';
import { fakeClock } from '../support/fake-io.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

function watched() {
  const folder = temporaryFolder();
  const clock = fakeClock();
  let changes = 0;
  const stop = folderWatcher(clock)(folder, async () => {
    changes += 1;
  });
  /** Advances the clock, and returns the number of changes so far. */
  const after = async (ms: number) => {
    for (let at = 0; at < ms; at += 50) {
      clock.advance(50);
      await Promise.resolve();
      await Promise.resolve();
    }
    return changes;
  };
  return { folder, after, stop };
}

test('reports a new, a changed and a removed file once each, in subdirectories too', async () => {
  const { folder, after } = watched();
  expect(await after(1000)).toBe(0);
  mkdirSync(join(folder, 'tools'));
  writeFileSync(join(folder, 'tools/a.ts'), 'a');
  expect(await after(1000)).toBe(1);
  writeFileSync(join(folder, 'tools/a.ts'), 'ab');
  expect(await after(1000)).toBe(2);
  rmSync(join(folder, 'tools/a.ts'));
  expect(await after(1000)).toBe(3);
});

test('waits until a file that is being written stays the same', async () => {
  const { folder, after } = watched();
  for (const text of ['a', 'ab', 'abc', 'abcd']) {
    writeFileSync(join(folder, 'a.ts'), text);
    expect(await after(150)).toBe(0);
  }
  expect(await after(150)).toBe(1);
});

test('ignores hidden files and installed packages, and stops', async () => {
  const { folder, after, stop } = watched();
  for (const name of ['.git', 'node_modules']) {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, 'a.ts'), 'a');
  }
  expect(await after(1000)).toBe(0);
  stop();
  writeFileSync(join(folder, 'a.ts'), 'a');
  expect(await after(1000)).toBe(0);
});

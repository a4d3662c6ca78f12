import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { newFile, open, storeChild } from './rig.ts';

test('several processes can create one store at the same time', async () => {
  const file = newFile();
  const children = Array.from({ length: 5 }, (_, index) => storeChild('write', file, `session-${index}`));
  expect(await Promise.all(children.map((child) => child.line()))).toEqual(children.map(() => 'closed'));
  const store = open(file);
  expect(await store.sessions()).toHaveLength(5);
});

test('only one of several processes can claim a session', async () => {
  const file = newFile();
  const children = Array.from({ length: 4 }, () => storeChild('hold', file, 'one'));
  const lines = await Promise.all(children.map((child) => child.line()));
  expect(lines.filter((line) => line === 'held')).toHaveLength(1);
  expect(lines.filter((line) => line.startsWith('in_use: Session one is in use by process'))).toHaveLength(3);
  expect(existsSync(file)).toBe(true);
  expect(await open(file).read('one')).toHaveLength(1);
});

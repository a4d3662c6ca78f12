import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

test('a turn makes at most the permitted calls, and creates at most the permitted promises', () => {
  const counts = fileURLToPath(new URL('../src/counts.ts', import.meta.url));
  const flags = ['--conditions=@cobbler/source', '--disable-warning=ExperimentalWarning'];
  const { stdout, stderr, status } = spawnSync(process.execPath, [...flags, counts], { encoding: 'utf8' });
  expect([stdout, stderr, status]).toEqual([
    expect.stringMatching(/^calls .* met .*\nfunctions .* met .*\npromises .* met .*\n$/),
    '',
    0,
  ]);
});

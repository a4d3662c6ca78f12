import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

/** Everything that a file loads before its first line runs: its imports and theirs, types and `import()` left out. */
function loadedWith(file: URL, loaded: Set<string> = new Set()): Set<string> {
  const source = readFileSync(file, 'utf8');
  for (const [, name = ''] of source.matchAll(/^(?:import|export) (?!type)[^;]*?from '([^']+)';/gm)) {
    if (!name.startsWith('.')) loaded.add(name);
    else {
      const path = new URL(name, file);
      if (loaded.has(path.href)) continue;
      loaded.add(path.href);
      loadedWith(path, loaded);
    }
  }
  return loaded;
}

const main = new URL('../src/main.ts', import.meta.url);

test('--version and --help load no package and hardly any file: they are quick', () => {
  const loaded = [...loadedWith(main)];
  expect(loaded.filter((name) => !name.startsWith('file:') && !name.startsWith('node:'))).toEqual([]);
  expect(loaded.filter((name) => name.startsWith('file:')).length).toBeLessThan(12);
});

test('the walk finds what a command loads', () => {
  const run = fileURLToPath(new URL('../src/commands/run.ts', import.meta.url));
  expect(loadedWith(new URL(`file://${run}`))).toContain('@cobbler/agent');
});

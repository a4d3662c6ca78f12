import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

/** Returns all modules that a file loads statically and transitively, without type imports. */
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

const main = new URL('../../src/main.ts', import.meta.url);

test('--version and --help load no package and fewer than 12 files', () => {
  const loaded = [...loadedWith(main)];
  expect(loaded.filter((name) => !name.startsWith('file:') && !name.startsWith('node:'))).toEqual([]);
  expect(loaded.filter((name) => name.startsWith('file:')).length).toBeLessThan(12);
});

test('the search finds a package that a command loads', () => {
  const run = fileURLToPath(new URL('../../src/commands/run.ts', import.meta.url));
  expect(loadedWith(new URL(`file://${run}`))).toContain('@cobbler/agent');
});

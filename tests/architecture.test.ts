import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');

interface Layers {
  readonly folder: string;
  readonly bottomFirst: readonly string[];
}

interface House {
  readonly layers: readonly Layers[];
  readonly packages: Readonly<Record<string, readonly string[]>>;
}

const house = JSON.parse(read('scripts/house.json')) as House;
const [, text = ''] = read('ARCHITECTURE.md').split('\n## Folders\n');
const [packages = '', layers = ''] = (text.split('\n## ')[0] ?? '').split('\n### ');

/** Returns the names in the first column of a table, row by row. */
const namesIn = (table: string) =>
  table
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .flatMap((line) => [...(line.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, name = '']) => name));

/** Returns the directories of a layer list, without files. */
const foldersOf = ({ bottomFirst }: Layers) => bottomFirst.filter((name) => name.endsWith('/'));

describe('ARCHITECTURE.md', () => {
  test('has at most 90 lines', () => {
    expect(read('ARCHITECTURE.md').trimEnd().split('\n').length).toBeLessThanOrEqual(90);
  });

  test('names every package and app, and only existing directories', () => {
    const named = namesIn(packages);
    expect(named.length).toBeGreaterThan(15);
    expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([]);
    const all = globSync('{packages,apps}/*/package.json', { cwd: root }).map((path) => dirname(path));
    const isGenerated = (path: string) => /^packages\/(provider|store|channel)-/.test(path);
    const missing = all.filter((path) => !isGenerated(path) && !named.some((name) => name.startsWith(path)));
    expect(missing).toEqual([]);
  });

  test('lists every layer of the core in the order of the import rules', () => {
    const [core] = house.layers;
    const top = core === undefined ? [] : foldersOf(core).filter((name) => name.split('/').length === 2);
    expect(namesIn(layers).map((name) => `${name}/`)).toEqual(top);
  });

  test.each(house.layers.filter(({ folder }) => folder.startsWith('apps/')))(
    'lists the layers of $folder in the order of the import rules',
    (one) => {
      const [, list = ''] = layers.split(`\`${one.folder}\`:`);
      const named = [...(list.split('.')[0] ?? '').matchAll(/`([^`]+)`/g)].map(([, name]) => `${name}/`);
      expect(named).toEqual(foldersOf(one));
    },
  );

  test.each(house.layers)('the import rules list every directory in $folder', (one) => {
    const found = readdirSync(join(root, one.folder), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => `${name}/`);
    expect(found.filter((name) => !one.bottomFirst.includes(name))).toEqual([]);
  });

  test('the import rules let packages import only the agent and the contract suites', () => {
    const rules = Object.entries(house.packages).filter(
      ([folder]) => folder.startsWith('packages/') && !folder.includes('/channel-'),
    );
    const allowed = new Set(rules.flatMap(([, mayImport]) => mayImport));
    expect([...allowed].sort()).toEqual(['packages/agent', 'packages/conformance']);
  });
});

test('the code of the core does not name any provider', () => {
  const named = globSync('packages/agent/src/**/*.ts', { cwd: root })
    .filter((path) => !path.endsWith('/interfaces/config.ts'))
    .filter((path) =>
      /claude|anthropic|openai/i.test(read(path).replaceAll(/^\s*(\/\/|\/?\*).*$|\s\/\/ .*$/gm, '')),
    );
  expect(named).toEqual([]);
});

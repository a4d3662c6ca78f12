import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');

interface House {
  readonly layers: { readonly folder: string; readonly bottomFirst: readonly string[] };
  readonly packages: Readonly<Record<string, { readonly mayImport: readonly string[] }>>;
}

const house = JSON.parse(read('scripts/house.json')) as House;
const { folder, bottomFirst } = house.layers;

/** The names in the first column of the table of folders, row by row. */
const rows = (read('ARCHITECTURE.md').split('\n## Folders\n')[1]?.split('\n## ')[0] ?? '')
  .split('\n')
  .filter((line) => line.startsWith('| ') && line.includes('`'))
  .map((line) => {
    const [, first = ''] = line.split('|');
    return {
      isLayer: first.includes('·'),
      names: [...first.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name),
    };
  });
const layers = rows.filter(({ isLayer }) => isLayer);
const folders = rows.filter(({ isLayer }) => !isLayer);

/** What `npm run new` makes is nobody's to describe here. */
const isOfAKind = (name: string) => /^@cobbler\/(provider|store|channel)-/.test(name);

/** How far up a file or folder stands; below zero when the rules do not know it. */
const heightOf = (name: string) =>
  Math.max(bottomFirst.indexOf(`${name}.ts`), bottomFirst.indexOf(`${name}/`));

describe('ARCHITECTURE.md', () => {
  test('fits on two screens', () => {
    expect(read('ARCHITECTURE.md').trimEnd().split('\n').length).toBeLessThanOrEqual(90);
  });

  test('names folders that are there, and all packages and apps among them', () => {
    const named = folders.flatMap(({ names }) => names);
    expect(named.length).toBeGreaterThan(15);
    expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([]);
    const packages = Object.keys(house.packages).filter((name) => !isOfAKind(name));
    const isNamed = (name: string) =>
      named.some((path) => path.split('/')[1] === name.replace('@cobbler/', ''));
    expect(packages.filter((name) => !isNamed(name))).toEqual([]);
  });

  test('names layers that are there and that the rules know', () => {
    const named = layers.flatMap(({ names }) => names);
    expect(named.length).toBeGreaterThan(30);
    const isThere = (name: string) =>
      [name, `${name}.ts`].some((path) => existsSync(join(root, folder, path)));
    expect(named.filter((name) => !isThere(name) || heightOf(name) < 0)).toEqual([]);
  });

  test('tells the layers in the order in which the rules hold them, the top first', () => {
    const heights = layers.map(({ names }) => names.map(heightOf));
    for (const [at, upper] of heights.entries()) {
      const below = heights[at + 1] ?? [];
      expect(Math.min(...upper), layers[at]?.names.join(' ')).toBeGreaterThan(Math.max(-1, ...below));
    }
  });

  test('says truly that no package imports another one but the agent', () => {
    const leaves = Object.entries(house.packages).filter(
      ([name]) =>
        existsSync(join(root, 'packages', name.replace('@cobbler/', ''))) && !name.includes('/channel-'),
    );
    expect(leaves.length).toBeGreaterThan(5);
    const others = leaves
      .flatMap(([, { mayImport }]) => mayImport)
      .filter((name) => name !== '@cobbler/agent');
    expect(others).toEqual([]);
  });
});

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');

test('every changeset names only packages of the workspace', () => {
  const manifests = globSync('{packages,apps}/*/package.json', { cwd: root });
  const known = new Set(manifests.map((path): unknown => JSON.parse(read(path)).name));
  const named = globSync('.changeset/*.md', { cwd: root }).flatMap((path) => {
    const [, head = ''] = /^---\n([\s\S]*?)\n---\n/.exec(read(path)) ?? [];
    return [...head.matchAll(/^['"]?([^'":]+)['"]?: (major|minor|patch)$/gm)].map(
      ([, name]) => `${path}: ${name}`,
    );
  });
  expect(named.length).toBeGreaterThan(0);
  expect(named.filter((entry) => !known.has(entry.slice(entry.indexOf(': ') + 2)))).toEqual([]);
});

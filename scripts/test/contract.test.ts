import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { packageSuites } from '../../e2e/contract/src/packages.ts';

const packages = mkdtempSync(join(tmpdir(), 'cobbler-contract-test-'));

afterAll(() => rmSync(packages, { recursive: true, force: true }));

/** Creates a package in the temporary directory, with this test/subjects.ts if given. */
function place(name: string, subjects?: string): void {
  mkdirSync(join(packages, name, 'test'), { recursive: true });
  writeFileSync(join(packages, name, 'package.json'), '{ "type": "module" }');
  if (subjects !== undefined) writeFileSync(join(packages, name, 'test/subjects.ts'), subjects);
}

const one = (text: string) => `export const subjects: readonly unknown[] = [${text}];\n`;

test('finds a package of each kind by the exports of its test/subjects.ts', async () => {
  place('provider-a', one(`{ name: 'a', create() {}, testing: {} }`));
  place('provider-b', one(`{ name: 'b', create() {}, testing: { lacks: {} }, handlers: () => [] }`));
  place('channel-b', one(`{ name: 'b', lacks: {}, open() {} }`));
  place('store-c', one(`{ name: 'c', place() {} }, { name: 'd', cases: () => [], missing: 'no server' }`));
  const found = await Promise.all(
    (['provider', 'channel', 'store'] as const).map((kind) => packageSuites(kind, packages)),
  );
  expect(found.flat().map(({ contract, name, missing }) => [contract, name, missing])).toEqual([
    ['agent', 'a', undefined],
    ['agent', 'b fetch', undefined],
    ['agent', 'b node', undefined],
    ['assistant channel', 'assistant channel b', undefined],
    ['store', 'store c', undefined],
    ['store', 'store d', 'no server'],
  ]);
  expect(found[1]?.[0]?.cases().length).toBeGreaterThan(10);
  expect(found[2]?.[0]?.cases().length).toBeGreaterThan(10);
});

test('skips a package without test/subjects.ts, naming the file, and fails one with invalid subjects', async () => {
  place('store-e');
  place('store-f', one(`{ name: 'f', open() {} }`));
  const suites = await packageSuites('store', packages);
  const [e, f] = ['store-e', 'store-f'].map((name) => suites.find((suite) => suite.name === name));
  expect(e?.missing).toContain('packages/store-e/test/subjects.ts');
  await expect(f?.cases()[0]?.run()).rejects.toThrow(
    '`subjects` must contain only subjects of the store contract',
  );
});

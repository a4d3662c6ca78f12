import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { suites } from '../verify-suites.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const { scripts }: { scripts: Record<string, string> } = JSON.parse(
  readFileSync(join(root, 'package.json'), 'utf8'),
);

describe('npm run verify -- --all', () => {
  test('names only scripts that are there', () => {
    expect(suites.filter((name) => scripts[name] === undefined)).toEqual([]);
  });

  test('leaves out no suite of tests', () => {
    expect(Object.keys(scripts).filter((name) => name.startsWith('test:') && !suites.includes(name))).toEqual(
      [],
    );
  });

  test('is more than CI runs at every change, which is what npm test runs', () => {
    expect(readFileSync(join(root, '.ci/run'), 'utf8')).toMatch(/^npm test$/m);
    expect(readFileSync(join(root, '.github/workflows/ci.yml'), 'utf8')).toMatch(/run: npm run verify$/m);
  });
});

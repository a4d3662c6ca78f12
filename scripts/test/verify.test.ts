import { spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { taskNames, tasks } from '../tasks.mjs';
import { everything } from '../verify.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const { scripts }: { scripts: Record<string, string> } = JSON.parse(
  readFileSync(join(root, 'package.json'), 'utf8'),
);
const cobbler = (...words: readonly string[]) =>
  spawnSync(process.execPath, [join(root, 'scripts/cobbler.mjs'), ...words], { cwd: root, encoding: 'utf8' });

describe('the named tasks', () => {
  test.each(Object.values(tasks).flatMap((group) => Object.entries(group)))(
    '%s names only existing files and directories',
    (_, task) => {
      const words = JSON.stringify(task).split(/["\s,[\]]+/);
      const paths = words.filter((word) => /\.(ts|mjs)$|^(e2e|apps|site)\b/.test(word));
      expect(paths.length).toBeGreaterThan(0);
      expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
    },
  );

  test.each([
    ['generate', /^cobbler: Cannot run generate "nothing": unknown name\. Use one of: api, /m],
    ['bench', /^cobbler: Cannot run bench "nothing": unknown name\. Use one of: peers, /m],
  ])('npm run %s rejects an unknown name and lists the known names', (word, message) => {
    const { status, stderr } = cobbler(word, 'nothing');
    expect(stderr).toMatch(message);
    expect(status).toBe(1);
  });
});

test('the types of a fresh clone check: packages that only a suite installs are declared', () => {
  const read = (path: string) => readFileSync(join(root, path), 'utf8');
  const declared = read('e2e/not-installed.d.ts');
  const installed = Object.keys(JSON.parse(read('package.json')).devDependencies);
  const missing = globSync(['e2e/*/package.json', 'apps/*/faces/package.json'], { cwd: root }).flatMap(
    (path) => {
      const own = Object.keys(JSON.parse(read(path)).dependencies ?? {});
      const only = own.filter((name) => !installed.includes(name) && !name.startsWith('@anthropic-ai/'));
      const files = globSync(`${dirname(path)}/**/*.ts`, { cwd: root, exclude: ['**/node_modules/**'] });
      const texts = files.map(read);
      return only.filter(
        (name) =>
          texts.some((text) => text.includes(`from '${name}'`)) && !declared.includes(`module '${name}'`),
      );
    },
  );
  expect(missing).toEqual([]);
});

describe('npm run verify', () => {
  test('--all runs only existing scripts and suites', () => {
    const [, ...others] = everything;
    for (const [run, script = '', , name] of others) {
      expect(run).toBe('run');
      expect(scripts).toHaveProperty(script);
      if (script === 'verify' && name !== undefined) expect(taskNames('verify')).toContain(name);
    }
  });

  test('--all omits only the suites that also run as slow tests, and the mutants', () => {
    const named = everything.flatMap(([, script, , name]) => (script === 'verify' && name ? [name] : []));
    const others = ['contract', 'mutants', 'crash', 'simulate'];
    expect(taskNames('verify').filter((name) => !named.includes(name))).toEqual(others);
  });

  test('--repeat with an invalid count explains its usage', () => {
    const { status, stderr } = cobbler('verify', '--repeat', 'twice', 'packages/tools');
    expect(stderr).toMatch(
      /^cobbler: Cannot repeat tests: got "twice packages\/tools"\. Use a number and a path/,
    );
    expect(status).toBe(1);
  });

  test('runs in CI after npm test', () => {
    expect(readFileSync(join(root, '.ci/run'), 'utf8')).toMatch(/^npm test\nnpm run verify$/m);
    const ci = readFileSync(join(root, '.github/workflows/ci.yml'), 'utf8');
    expect(ci).toMatch(/- run: npm test\n +- run: npm run verify\n/);
    expect(ci).toMatch(/- run: npm run verify -- --all$/m);
  });
});

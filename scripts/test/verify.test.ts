import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { everything } from '../verify.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const { scripts }: { scripts: Record<string, string> } = JSON.parse(
  readFileSync(join(root, 'package.json'), 'utf8'),
);
const tasks: { verify: Record<string, string> } & Record<string, Record<string, string>> = JSON.parse(
  readFileSync(join(root, 'scripts/tasks.json'), 'utf8'),
);
const cobbler = (...words: readonly string[]) =>
  spawnSync(process.execPath, [join(root, 'scripts/cobbler.mjs'), ...words], { cwd: root, encoding: 'utf8' });

describe('the commands by name', () => {
  test.each(Object.values(tasks).flatMap((group) => Object.entries(group)))(
    '%s runs a file that exists',
    (_, text) => {
      const files = text.split(' ').filter((word) => /\.(ts|mjs)$/.test(word));
      expect(files.map((file) => existsSync(join(root, file)))).toEqual([true]);
    },
  );

  test.each([
    ['generate', /^cobbler: Cannot run generate "nothing": unknown name\. Use one of: api, /m],
    ['bench', /^cobbler: Cannot run bench "nothing": unknown name\. Use one of: peers, /m],
  ])('npm run %s refuses a name that it does not know, and lists those it knows', (word, message) => {
    const { status, stderr } = cobbler(word, 'nothing');
    expect(stderr).toMatch(message);
    expect(status).toBe(1);
  });
});

describe('npm run verify', () => {
  test('--all runs only scripts and suites that exist', () => {
    const [, ...others] = everything;
    for (const [run, script = '', , name] of others) {
      expect(run).toBe('run');
      expect(scripts).toHaveProperty(script);
      if (script === 'verify' && name !== undefined) expect(tasks.verify).toHaveProperty(name);
    }
  });

  test('--all leaves out no suite but the drills, which are tests of the slow level too', () => {
    const named = everything.flatMap(([, script, , name]) => (script === 'verify' && name ? [name] : []));
    expect(Object.keys(tasks.verify).filter((name) => !named.includes(name))).toEqual(['crash', 'simulate']);
  });

  test('--repeat without a number and a path says what to type', () => {
    const { status, stderr } = cobbler('verify', '--repeat', 'twice', 'packages/tools');
    expect(stderr).toMatch(
      /^cobbler: Cannot repeat tests: got "twice packages\/tools"\. Give a number and a path/,
    );
    expect(status).toBe(1);
  });

  test('CI runs it after npm test', () => {
    expect(readFileSync(join(root, '.ci/run'), 'utf8')).toMatch(/^npm test\nnpm run verify$/m);
    const ci = readFileSync(join(root, '.github/workflows/ci.yml'), 'utf8');
    expect(ci).toMatch(/- run: npm test\n +- run: npm run verify\n/);
    expect(ci).toMatch(/- run: npm run verify -- --all$/m);
  });
});

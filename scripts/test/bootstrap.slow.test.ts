import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { capture } from '../child.mjs';
import { cleanEnvironment, userPath } from '../setup.mjs';

const root = join(import.meta.dirname, '../..');
const scratch = mkdtempSync(join(tmpdir(), 'cobbler-bootstrap-'));

afterAll(() => rmSync(scratch, { recursive: true, force: true }));

function node(args: string[], env: NodeJS.ProcessEnv = process.env) {
  return spawnSync(process.execPath, args, { encoding: 'utf8', cwd: scratch, env });
}

describe('the bootstrap', () => {
  test('rejects an unknown command with one line that lists the known ones', () => {
    const { status, stdout, stderr } = node([join(root, 'scripts/cobbler.mjs'), 'toString']);
    expect(stderr).toBe(
      'cobbler: Use one of: start, test, verify, check, format, try, generate, bench, exec, new, release, docs.\n',
    );
    expect(stdout).toBe('');
    expect(status).toBe(1);
  });

  test('names a cache directory that is not writable, and the fix', () => {
    const file = join(scratch, 'file');
    writeFileSync(file, '');
    const env = { ...process.env, XDG_CACHE_HOME: file };
    const { status, stderr } = node([join(root, 'scripts/cobbler.mjs'), 'check'], env);
    expect(stderr).toMatch(/^cobbler: Cannot write .*Set XDG_CACHE_HOME to a writable directory\.\n$/);
    expect(status).toBe(1);
  });

  test('passes only the registry, cache and proxy settings of npm to a nested npm', () => {
    const env = {
      PATH: '/bin',
      npm_config_registry: 'https://registry.example',
      NPM_CONFIG_CACHE: '/cache',
      npm_config_https_proxy: 'http://proxy.example',
      npm_config_engine_strict: 'true',
      npm_config_prefix: '/usr',
      npm_lifecycle_event: 'start',
      npm_package_json: '/a/package.json',
      INIT_CWD: '/a',
    };
    expect(Object.keys(cleanEnvironment(env))).toEqual([
      'PATH',
      'npm_config_registry',
      'NPM_CONFIG_CACHE',
      'npm_config_https_proxy',
    ]);
  });

  test('removes only the directories that npm prepends to the PATH', () => {
    const added = ['/a/node_modules/.bin', '/node_modules/.bin', '/npm/run-script/lib/node-gyp-bin'];
    const own = ['/usr/bin', '/home/me/node_modules/.bin', '/bin'];
    expect(userPath([...added, ...own].join(delimiter))).toBe(own.join(delimiter));
    expect(userPath(own.join(delimiter))).toBe(own.join(delimiter));
  });

  test('returns 143 for a child that SIGTERM ended, and rejects for a missing program', async () => {
    const options = { cwd: scratch, env: process.env };
    const script = "process.stdout.write('out'); process.kill(process.pid, 'SIGTERM')";
    expect(await capture(process.execPath, ['-e', script], options)).toEqual({ code: 143, output: 'out' });
    await expect(capture(join(scratch, 'none'), [], options)).rejects.toThrow('Cannot start');
  });
});

describe('the closing line', () => {
  /** Runs vitest with the given test files and returns its output. */
  function vitest(name: string, files: Record<string, string>, args: string[] = []) {
    const folder = join(scratch, name);
    mkdirSync(folder);
    for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
    const reporter = `--reporter=${join(root, 'scripts/closing-line.ts')}`;
    const options = ['run', '--root', folder, '--globals', reporter, ...args];
    const { COBBLER_COUNTS: _, ...env } = process.env;
    const run = node([join(root, 'node_modules/vitest/vitest.mjs'), ...options], env);
    return { status: run.status, lines: run.stdout.trimEnd().split('\n') };
  }

  test('comes after the skipped and failed tests, and counts load errors and errors outside of tests', () => {
    const { status, lines } = vitest('mixed', {
      'a.test.js': [
        "test('passes', () => {});",
        "test('fails', () => { throw new Error('no'); });",
        "test('is off', (context) => context.skip('needs a printer'));",
        "test.skip('is off too (needs a scanner)', () => {});",
        "test.skip('is off for no reason', () => {});",
        "test('leaves a rejection behind', () => { Promise.reject(new Error('late')); });",
      ].join('\n'),
      'b.test.js': "import './missing.js';",
    });
    expect(lines.at(-1)).toBe('2 passed, 4 failed, 3 skipped');
    const told = lines.slice(-8, -1).map((line) => line.replace(/^(\w+): .*> /, '$1: '));
    expect(told.slice(0, 3)).toEqual([
      'skipped: is off (needs a printer)',
      'skipped: is off for no reason',
      'skipped: is off too (needs a scanner)',
    ]);
    expect(told[3]).toBe('failed: outside of any test (late)');
    expect(told.slice(4).sort()).toEqual([
      expect.stringMatching(/^failed: b\.test\.js \(.*missing\.js/),
      'failed: fails (no)',
      expect.stringMatching(/^failed: is off for no reason \(skipped without a reason/),
    ]);
    expect(status).toBe(1);
  });

  test('counts but does not list the tests that a name filter excludes', () => {
    const files = { 'a.test.js': "test('one', () => {});\ntest('two', () => {});" };
    const { status, lines } = vitest('filtered', files, ['-t', 'one']);
    expect(lines.at(-1)).toBe('1 passed, 0 failed, 1 skipped');
    expect(lines.filter((line) => line.startsWith('skipped:'))).toEqual([]);
    expect(status).toBe(0);
  });
});

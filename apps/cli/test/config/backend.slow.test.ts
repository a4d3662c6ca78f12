import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { readBackend } from '../../src/config/backend.ts';
import { checkPrograms } from '../../src/doctor/checkup.ts';
import { invoke } from '../support/in-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const fixtures = fileURLToPath(new URL('../../../../packages/delegate/test/fixtures/', import.meta.url));

/** Creates a work directory, and an environment with scripted `claude` and `codex` programs. */
function place() {
  const area = temporaryFolder();
  const [bin, cwd] = [join(area, 'bin'), join(area, 'work')];
  for (const folder of [bin, cwd]) mkdirSync(folder);
  for (const name of ['claude', 'codex']) {
    copyFileSync(join(fixtures, 'fake-cli.mjs'), join(bin, name));
    chmodSync(join(bin, name), 0o755);
  }
  writeFileSync(join(bin, 'package.json'), '{ "type": "module" }');
  const path = [bin, dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter);
  const env = { PATH: path, HOME: area, COBBLER_HOME: join(area, 'home') };
  return { area, cwd, env };
}

describe('run --backend', () => {
  test.each(['claude-code', 'codex'])(
    '%s performs the task, and its response is the output',
    async (name) => {
      const { cwd, env } = place();
      const ended = await invoke(['run', '--backend', name, 'say Hello.'], { env, cwd });
      expect([ended.code, ended.stdout.trim()]).toEqual([0, 'Hello.']);
      expect(ended.stderr).toContain(name);
    },
  );

  test.each(['claude-code', 'codex'])(
    '%s emits the same events as a model and needs no key',
    async (name) => {
      const { cwd, env } = place();
      const { code, stdout } = await invoke(['run', '--backend', name, '--yes', '--json', 'use look'], {
        env,
        cwd,
      });
      const events = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { type: string; status?: string });
      const stored = events.map(({ type }) => type).filter((type) => !['started', 'status'].includes(type));
      expect(
        stored.filter((type) => /^(user|assistant|tool_started|tool_result|finished)$/.test(type)),
      ).toEqual([...['user', 'assistant', 'tool_started', 'tool_result', 'assistant', 'finished']]);
      expect([code, events.at(-1)?.status]).toEqual([0, 'complete']);
    },
  );

  test('denies a call without a user to ask, and exits with an error code [P20]', async () => {
    const { cwd, env } = place();
    const asked = await invoke(['run', '--backend', 'claude-code', 'use write'], { env, cwd });
    expect(asked.stdout).not.toContain('written,');
    expect(asked.code).not.toBe(0);
    const allowed = await invoke(['run', '--backend', 'claude-code', '--yes', 'use write'], { env, cwd });
    expect([allowed.code, allowed.stdout.trim()]).toEqual([0, 'written']);
  });

  test('exits with different codes for the turn limit and for a failure', async () => {
    const { cwd, env } = place();
    const limited = await invoke(['run', '--backend', 'claude-code', '--yes', '--max-turns', '3', 'loop'], {
      env,
      cwd,
    });
    const failed = await invoke(['run', '--backend', 'claude-code', 'fail'], { env, cwd });
    expect([limited.code !== 0, failed.code !== 0, limited.code !== failed.code]).toEqual([true, true, true]);
    expect(failed.stderr).toContain('Log in with: claude /login');
  });

  test('leaves no process record behind [P3]', async () => {
    const { cwd, env } = place();
    await invoke(['run', '--backend', 'codex', 'say Hello.'], { env, cwd });
    const records = join(env.COBBLER_HOME, 'processes');
    expect(existsSync(records) ? readdirSync(records) : []).toEqual([]);
  });

  test('reports a missing program and an unknown backend name', async () => {
    const { cwd } = place();
    const { code, stderr } = await invoke(['run', '--backend', 'codex', 'x'], {
      env: { PATH: '/nowhere' },
      cwd,
    });
    expect([code, stderr]).toEqual([2, 'cobbler: codex CLI not found in PATH.\n']);
    expect(() => readBackend('claud-code')).toThrow(/--backend cannot be "claud-code"/);
    expect(readBackend(undefined)).toBeUndefined();
  });
});

describe('doctor', () => {
  test('shows the programs that it finds, with their versions', async () => {
    const { env, area } = place();
    expect(await checkPrograms(env)).toEqual([
      { name: 'claude', ok: true, found: `9.9.9 (fake claude) (${join(area, 'bin', 'claude')})` },
      { name: 'codex', ok: true, found: `9.9.9 (fake codex) (${join(area, 'bin', 'codex')})` },
    ]);
  });

  test('accepts a missing program but fails for a broken one', async () => {
    const missing = await checkPrograms({ PATH: '/nowhere' });
    expect(missing.map(({ ok, found }) => [ok, found.split(';')[0]])).toEqual([
      [true, 'not found'],
      [true, 'not found'],
    ]);
    const { env, area } = place();
    writeFileSync(join(area, 'bin', 'claude'), '#!/bin/sh\nexit 3\n');
    expect((await checkPrograms(env))[0]).toMatchObject({
      ok: false,
      repair: expect.stringContaining('npm install'),
    });
  });
});

import type { ChildProcess } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { isMain, stage, toolResults } from './support/agent-stage.ts';
import { cobbler } from './support/binary.ts';
import { invoke } from './support/in-process.ts';

const fixtures = fileURLToPath(new URL('../../../packages/delegate/test/fixtures/', import.meta.url));

/** Creates a run whose model gives this task to a scripted Claude Code. */
async function withClaude(task: string) {
  const place = await stage(({ results }) =>
    results.length === 0 ? [['agent', { agent: 'claude', task }]] : (results[0] ?? ''),
  );
  const bin = join(place.folder, 'bin');
  mkdirSync(bin);
  copyFileSync(join(fixtures, 'fake-cli.mjs'), join(bin, 'claude'));
  chmodSync(join(bin, 'claude'), 0o755);
  writeFileSync(join(bin, 'package.json'), '{ "type": "module" }');
  const path = [bin, dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter);
  return { cwd: place.folder, env: { ...place.env, PATH: path } };
}

test('the tool agent gives a task to Claude Code, and its output is untrusted', async () => {
  const place = await withClaude('say Hello.');
  const { code, stdout } = await invoke(['--json', 'Go.'], place);
  expect(code).toBe(0);
  const [result] = toolResults(stdout);
  expect(result).toMatchObject({ isError: false, untrusted: true });
  expect(JSON.stringify(result?.content)).toContain('[claude-code as-1: completed]\\nHello.');
});

test('the calls of Claude Code pass the permissions of the run, and a question names it', async () => {
  const place = await withClaude('use write');
  const { code, stdout, stderr } = await invoke(['Go.'], { ...place, keys: ['n'] });
  expect(stripVTControlCharacters(stderr)).toMatch(/\? write .* for claude-code/);
  expect([code, stdout]).toEqual([0, expect.stringContaining('[claude-code as-1: completed]')]);
});

test('a run whose process is killed while a sub-agent works continues, and does not start the agent again', async () => {
  let child: ChildProcess | undefined;
  let tasks = 0;
  const { folder, env } = await stage(async (one) => {
    if (!isMain(one)) {
      tasks += 1;
      child?.kill('SIGKILL');
      await new Promise((resolve) => setTimeout(resolve, 500));
      return 'Too late.';
    }
    return one.results.length === 0 ? [['agent', { agent: 'general', task: 'Work.' }]] : 'Continued.';
  });
  const onOutput = (_: string, started: ChildProcess) => {
    child = started;
  };
  const killed = await cobbler(['--json', 'Go.'], { cwd: folder, env, onOutput });
  expect(killed.signal).toBe('SIGKILL');
  const resumed = await cobbler(['resume', '--json'], { cwd: folder, env });
  expect([resumed.code, tasks]).toEqual([0, 1]);
  const [result] = toolResults(resumed.stdout);
  expect(JSON.stringify(result?.content)).toContain('outcome is unknown');
  expect(resumed.stdout).toContain('Continued.');
});

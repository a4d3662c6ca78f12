import { readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { MockReply } from '@cobbler/agent/testing';
import { replies, responseSteps, scriptResponse } from '@cobbler/agent/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { cobbler as spawned } from '../support/binary.ts';
import { cobbler, invoke } from '../support/in-process.ts';
import { claudeAt, mockService, says } from '../support/mock-service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const patience = { timeout: 120_000 };

/** Creates a work directory, a home and a service with scripted replies, and a webhook that keeps what it receives. */
async function place(...script: readonly MockReply[]) {
  const service = await mockService(script);
  const home = join(temporaryFolder(), 'home');
  const cwd = temporaryFolder();
  const told: { status: string; id: string; text: string }[] = [];
  const hook = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      told.push(JSON.parse(body));
      response.end();
    });
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => hook.once('listening', resolve));
  onTestFinished(() => void hook.close());
  const env = { ...claudeAt(service), COBBLER_HOME: home };
  const at = (...args: readonly string[]) => cobbler(args, { env, cwd });
  const url = `http://127.0.0.1:${(hook.address() as AddressInfo).port}`;
  await at('config', 'set', 'notify', `{ webhook: '${url}' }`);
  const run = (...args: readonly string[]) => spawned(args, { env, cwd });
  /** Starts a job and returns its id. */
  const start = async (...args: readonly string[]) => {
    const { code, stdout, stderr } = await run('run', '--background', ...args);
    expect([code, stderr]).toEqual([0, expect.stringContaining('continues in the background')]);
    return stdout.trim();
  };
  const status = async (id: string) =>
    JSON.parse((await at('jobs', '--json')).stdout.split('\n').find((line) => line.includes(id)) ?? '{}')
      .status;
  const until = async (isSo: () => unknown) => {
    while (!(await isSo())) await pause(50);
  };
  return { service, home, cwd, env, at, run, start, told, status, until };
}

/** Returns the process of a job, which has its id in its arguments. */
function processOf(id: string): number {
  const commandOf = (pid: string) => readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  const found = readdirSync('/proc').find((pid) => {
    try {
      return /^\d+$/.test(pid) && commandOf(pid).includes(`--job\0${id}`);
    } catch {
      return false;
    }
  });
  return Number(found);
}

describe('a run in the background', () => {
  test('continues after the command that started it, and notifies its user once', patience, async () => {
    const { at, start, told, home, until } = await place(says('Hello.'));
    const id = await start('say hello');
    expect((await at('jobs', 'wait', id.slice(0, 8))).code).toBe(0);
    await until(() => told.length > 0);
    expect(told).toMatchObject([{ status: 'complete', session: id, text: 'Hello.', title: 'say hello' }]);
    const { stdout } = await at('jobs', 'show', id);
    expect(stdout).toMatch(/^status {3}complete$/m);
    expect(stdout).toContain('\nHello.\n');
    const log = join(home, 'sessions', `${id}.log`);
    utimesSync(log, 0, 0);
    expect((await at('jobs', 'show', id)).stdout).toMatch(
      /\nHello\.\n\nThe session was continued outside of/,
    );
    expect(statSync(log).mode & 0o777).toBe(0o600);
    await until(async () => readFileSync(join(home, 'sessions', `${id}.json`), 'utf8').includes('told'));
    expect((await at('resume', '--all')).stderr).toBe('No job was interrupted.\n');
    expect(told).toHaveLength(1);
    await at('sessions', 'delete', id);
    expect(() => statSync(join(home, 'sessions', `${id}.log`))).toThrow();
  });

  test('reads piped input, and says at once why it cannot start', patience, async () => {
    const { env, cwd, service, at } = await place(says('Read.'));
    const { stdout } = await spawned(['run', '--background', 'what is this?'], { env, cwd, input: 'a line' });
    expect((await at('jobs', 'wait', stdout.trim())).code).toBe(0);
    expect(JSON.stringify(service.server.exchanges[0]?.request)).toContain('a line');
    const keyless = { COBBLER_HOME: env.COBBLER_HOME };
    const end = await spawned(['run', '--background', 'go'], { env: keyless, cwd });
    expect([end.code, end.stdout]).toEqual([2, '']);
    expect(end.stderr).toMatch(/key/i);
    expect((await at('run', '--background', '--no-session', 'x')).stderr).toContain(
      'cannot be used together',
    );
  });

  test('waits for its user without a process, and continues with the decision', patience, async () => {
    const call = ['run_command', { command: 'echo hi > made' }] as const;
    const { at, start, told, cwd, env, until } = await place(says('', call), says('Made.'));
    const id = await start('make it');
    expect((await at('jobs', 'wait', id)).code).toBe(5);
    await until(() => told.length > 0);
    expect(told).toMatchObject([{ status: 'waiting', waitsFor: ['run_command'] }]);
    expect((await at('jobs', 'show', id)).stdout).toMatch(
      /waits for you: run_command[\s\S]*to answer: cobbler resume /,
    );
    expect(JSON.parse((await at('jobs', 'show', id, '--json')).stdout)).toMatchObject({
      ...{ id, status: 'waiting', folder: cwd, output: expect.stringMatching(/\.log$/) },
      waitsFor: [{ toolName: 'run_command', arguments: { command: 'echo hi > made' } }],
    });
    expect((await at('jobs', 'show')).stderr).toMatch(
      /The job id is missing\.\n {2}Use: cobbler jobs show ID/,
    );
    const end = await invoke(['--ask'], { env, cwd, keys: ['y'] }, { session: id, resumes: true });
    expect([end.code, readFileSync(join(cwd, 'made'), 'utf8')]).toEqual([0, 'hi\n']);
    // It is a session of this terminal now.
    expect((await at('jobs')).stdout).toBe('');
  });

  test('is stopped by jobs stop, and then not continued', patience, async () => {
    const { at, start, status, until, cwd } = await place(
      says('', ['run_command', { command: 'echo ready > log; sleep 60' }]),
    );
    const id = await start('--yes', 'go');
    await until(() => statSync(join(cwd, 'log'), { throwIfNoEntry: false }));
    expect(await status(id)).toBe('running');
    expect((await at('-s', id, 'me too')).stderr).toContain('is in use by process');
    const { code, stderr } = await at('jobs', 'stop', id);
    expect([code, stderr]).toEqual([0, `Session ${id.slice(0, 8)}: cancelled\n`]);
    expect((await at('resume', '--all')).stderr).toBe('No job was interrupted.\n');
  });
});

describe.skipIf(process.platform !== 'linux')('a job whose process is gone (needs Linux)', () => {
  test(
    'in a tool: continues with the options of its start, and no command runs twice [P9]',
    patience,
    async () => {
      const { start, run, at, status, until, cwd, told } = await place(
        says('', ['run_command', { command: 'echo begun >> log; sleep 60' }]),
        says('', ['run_command', { command: 'echo after >> log' }]),
        says('It may have run.'),
      );
      const id = await start('--yes', 'go');
      await until(() => statSync(join(cwd, 'log'), { throwIfNoEntry: false }));
      process.kill(processOf(id), 'SIGKILL');
      await until(async () => (await status(id)) === 'interrupted');
      const end = await run('resume', '--all');
      expect([end.code, end.stderr]).toEqual([0, expect.stringContaining('continues in the background')]);
      expect((await at('jobs', 'wait', id)).code).toBe(0);
      expect(readFileSync(join(cwd, 'log'), 'utf8')).toBe('begun\nafter\n');
      await until(() => told.length > 0);
      expect(told).toMatchObject([{ status: 'complete', text: 'It may have run.' }]);
    },
  );

  test('in a stream, by the signal of a shutdown: continues', patience, async () => {
    const half = scriptResponse(['half of a response'], { model: 'claude-test' });
    const steps = responseSteps(half).filter((step) => step.type === 'open' || step.type === 'delta');
    const { start, run, at, status, until, service, told } = await place(
      replies(half, { steps, ending: 'stall' }),
      says('A whole response.'),
    );
    const id = await start('go');
    await until(() => service.server.exchanges.length > 0);
    process.kill(processOf(id), 'SIGTERM');
    await until(async () => (await status(id)) === 'interrupted');
    expect((await run('resume', '--all')).code).toBe(0);
    expect((await at('jobs', 'wait', id)).code).toBe(0);
    await until(() => told.length > 0);
    expect(told.map(({ text }) => text)).toEqual(['A whole response.']);
  });

  test('before it told its user: the end is told by resume --all', patience, async () => {
    const { start, at, until, home, told } = await place(says('Done.'));
    const id = await start('go');
    const note = join(home, 'sessions', `${id}.json`);
    await until(() => readFileSync(note, 'utf8').includes('told'));
    writeFileSync(note, readFileSync(note, 'utf8').replace(/,"told":\d+/, ''));
    await at('resume', '--all');
    await at('resume', '--all');
    expect(told).toHaveLength(2);
    expect(told[1]).toEqual(told[0]);
  });

  test('is not continued after jobs stop, and a session of a terminal never is', patience, async () => {
    const call = says('', ['run_command', { command: 'echo ready > log; sleep 60' }]);
    const { start, run, at, status, until, cwd } = await place(call, call);
    const id = await start('--yes', 'go');
    await until(() => statSync(join(cwd, 'log'), { throwIfNoEntry: false }));
    process.kill(processOf(id), 'SIGKILL');
    await until(async () => (await status(id)) === 'interrupted');
    expect((await at('jobs', 'stop', id)).stderr).toContain('will not continue it');
    expect((await run('resume', '--all')).stderr).toBe('No job was interrupted.\n');
  });
});

import type { ChildProcess } from 'node:child_process';
import { execFileSync } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import type { ProcessEnd, ProcessEntry, ProcessOptions } from '@cobbler/agent/node';
import { childEnvironment, superviseProcess } from '@cobbler/agent/node';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { processTree, readProcessTable } from '../../src/node/process/process-table.ts';
import { systemRuntime } from '../../src/values/runtime.ts';

let area: string;
const env = childEnvironment(process.env);
const listenersBefore = process.listenerCount('exit');

beforeEach(() => {
  area = mkdtempSync(join(tmpdir(), 'process-'));
});

afterEach(() => rmSync(area, { recursive: true, force: true }));

function shell(line: string, options: Partial<ProcessOptions> = {}): Promise<ProcessEnd> {
  return superviseProcess({ argv: ['/bin/sh', '-c', line], cwd: area, env, graceMs: 300, ...options }).ended;
}

/** Returns the process ids that a command wrote to a file, one per line. */
function pids(name = 'pids'): number[] {
  return readFileSync(join(area, name), 'utf8').trim().split('\n').map(Number);
}

function isRunning(pid: number): boolean {
  return readProcessTable().some((entry) => entry.pid === pid);
}

/** Stops a process as soon as it prints "ready". */
function stopOnceReady(
  options: Partial<ProcessOptions> = {},
): Partial<ProcessOptions> & { signal: AbortSignal } {
  const stop = new AbortController();
  return {
    ...options,
    signal: stop.signal,
    onOutput: (chunk) => String(chunk).includes('ready') && stop.abort(),
  };
}

describe('a supervised process', () => {
  it('returns the exit code, separate output streams and the duration', async () => {
    const end = await shell('echo out; echo err >&2; exit 3');
    expect(end).toMatchObject({ cause: 'exit', code: 3, signal: null });
    expect(end.stdout.text()).toBe('out\n');
    expect(end.stderr.text()).toBe('err\n');
    expect(end.durationMs).toBeGreaterThan(0);
  });

  it('reports the signal that ended it', async () => {
    expect(await shell('kill -9 $$')).toMatchObject({ cause: 'exit', code: null, signal: 'SIGKILL' });
  });

  it('receives its arguments unchanged, because no shell parses them [P20]', async () => {
    const odd = ['$HOME', '; echo no', '`echo no`', 'a b', '*', ''];
    const print = 'process.stdout.write(JSON.stringify(process.argv.slice(1)))';
    const argv = [process.execPath, '-e', print, '--', ...odd] as const;
    const { stdout } = await superviseProcess({ argv, cwd: area, env }).ended;
    expect(JSON.parse(stdout.text())).toEqual(odd);
  });

  it('reads its prompt from standard input, which is empty without one [P20]', async () => {
    expect((await shell('cat', { input: 'the prompt ✓' })).stdout.text()).toBe('the prompt ✓');
    expect((await shell('cat; echo end')).stdout.text()).toBe('end\n');
    expect(await shell('exec true', { input: 'x'.repeat(1_000_000) })).toMatchObject({
      cause: 'exit',
      code: 0,
    });
  });

  it('returns an error that names only the program if it cannot start', async () => {
    const start = (program: string, cwd = area) => superviseProcess({ argv: [program], cwd, env }).ended;
    const missing = await start('no-such-program');
    expect(missing.cause).toBe('unstartable');
    expect(missing.error).toMatchObject({ kind: 'tool', code: 'no_program' });
    expect((await start('true', join(area, 'gone'))).error?.message).not.toContain(area);
    expect((await start('/')).error?.message).toBe('/ could not be started: permission denied.');
    expect((await start('nul\0')).cause).toBe('unstartable');
    const huge = { argv: ['true', 'x'.repeat(3_000_000)] as const, cwd: area, env };
    expect((await superviseProcess(huge).ended).error?.message).toContain('arguments are too long');
  });

  it('does not start if its signal is already aborted', async () => {
    const end = await shell('echo ran > ran', { signal: AbortSignal.abort() });
    expect(end).toMatchObject({ cause: 'aborted', code: null });
    expect(() => readFileSync(join(area, 'ran'))).toThrow();
  });

  it('ends at its time limit [P2]', async () => {
    let limit = () => {};
    const runtime = {
      monotonic: systemRuntime.monotonic,
      /** Fires the limit at the first output, however slow this machine is. */
      timer(ms: number, fire: () => void) {
        if (ms !== 200) return systemRuntime.timer(ms, fire);
        limit = fire;
        return () => {};
      },
    };
    const onOutput = () => limit();
    const end = await shell('echo begun; sleep 60', { timeoutMs: 200, runtime, onOutput });
    expect(end).toMatchObject({ cause: 'timeout', code: null, signal: 'SIGTERM' });
    expect(end.stdout.text()).toBe('begun\n');
    expect(end.durationMs).toBeLessThan(10_000);
  });

  it('can clean up when it receives SIGTERM', async () => {
    const end = await shell(
      'trap "echo tidy; exit 7" TERM; echo ready; while :; do sleep 0.02; done',
      stopOnceReady({ graceMs: 15_000 }),
    );
    expect(end).toMatchObject({ cause: 'aborted', code: 7 });
    expect(end.stdout.text()).toBe('ready\ntidy\n');
  });
});

describe('a process tree', () => {
  it('ends after its program has exited, even if the time limit passes meanwhile', async () => {
    const stubborn = `setsid sh -c 'trap "" TERM; echo $$ >> pids; while :; do sleep 0.05; done'`;
    let limit = () => {};
    const runtime = {
      monotonic: systemRuntime.monotonic,
      /** Fires the limit at the first check of the remaining processes, 10 ms after SIGTERM. */
      timer(ms: number, fire: () => void) {
        if (ms === 10) limit();
        if (ms !== 60_000) return systemRuntime.timer(ms, fire);
        limit = fire;
        return () => {};
      },
    };
    const line = `${stubborn} & while [ ! -s pids ]; do :; done; echo done`;
    const end = await shell(line, { timeoutMs: 60_000, runtime });
    expect(end).toMatchObject({ cause: 'exit', code: 0 });
    expect(pids().filter(isRunning)).toEqual([]);
  });

  it('ends after an abort, with grandchildren that ignore SIGTERM [P3]', async () => {
    const stubborn = `sh -c 'trap "" TERM; echo $$ >> pids; echo ready; while :; do sleep 0.05; done'`;
    const end = await shell(`echo $$ >> pids; ${stubborn} & wait`, stopOnceReady());
    expect(end.cause).toBe('aborted');
    expect(end.durationMs).toBeGreaterThanOrEqual(300);
    expect(end.durationMs).toBeLessThan(10_000);
    expect(pids()).toHaveLength(2);
    expect(pids().filter(isRunning)).toEqual([]);
  });

  it('ends after an abort, with a grandchild in its own session [P3]', async () => {
    const own = `setsid sh -c 'trap "" TERM; echo $$ >> pids; echo ready; while :; do sleep 0.05; done'`;
    const end = await shell(`${own} & wait`, stopOnceReady());
    expect(end.cause).toBe('aborted');
    expect(pids().filter(isRunning)).toEqual([]);
  });

  it('ends without delay if a grandchild in its own session holds the pipe open', async () => {
    const end = await shell(
      `setsid sh -c 'echo $$ >> pids; exec sleep 60' & while [ ! -s pids ]; do :; done; echo done`,
    );
    expect(end).toMatchObject({ cause: 'exit', code: 0 });
    expect(end.stdout.text()).toBe('done\n');
    expect(end.durationMs).toBeLessThan(10_000);
    expect(pids().filter(isRunning)).toEqual([]);
  });

  it('includes a daemon that left group, session and parent, by its inherited environment', async () => {
    if (process.platform !== 'linux') return;
    const daemon = `(setsid sh -c 'echo $$ >> pids; exec sleep 60' > /dev/null 2>&1 &)`;
    const end = await shell(`${daemon}; while [ ! -s pids ]; do :; done`);
    expect(end).toMatchObject({ cause: 'exit', code: 0 });
    expect(pids().filter(isRunning)).toEqual([]);
  });

  it('includes a known descendant that lost its parent, group and environment', () => {
    const entry = (pid: number, parent: number, group: number, started = 10): ProcessEntry => {
      return { pid, parent, group, session: group, started };
    };
    const table = [entry(1, 0, 1, 1), entry(7, 1, 7), entry(8, 7, 8), entry(9, 1, 9), entry(10, 1, 10, 30)];
    const known = new Map([
      [7, 10],
      [10, 20],
    ]);
    const found = processTree(table, { root: 5, known, isMarked: () => false });
    expect(found.map(({ pid }) => pid)).toEqual([7, 8]);
  });

  it('includes only the group, the session, marked processes, and their descendants', () => {
    const entry = (pid: number, parent: number, group: number, session: number): ProcessEntry => {
      return { pid, parent, group, session, started: 10 };
    };
    const table = [
      entry(5, 4, 5, 5),
      entry(20, 1, 5, 20),
      entry(30, 1, 30, 5),
      entry(40, 1, 40, 40),
      entry(41, 40, 41, 41),
      entry(42, 41, 42, 42),
      entry(50, 1, 50, 50),
      entry(4, 1, 4, 4),
    ];
    const isMarked = ({ pid }: ProcessEntry) => pid === 40;
    const found = processTree(table, { root: 5, known: new Map(), isMarked });
    expect(found.map(({ pid }) => pid)).toEqual([5, 20, 30, 40, 41, 42]);
  });

  it('excludes older processes, even with the same group id', () => {
    const entry = (pid: number, group: number, started: number): ProcessEntry => {
      return { pid, parent: 1, group, session: group, started };
    };
    const table = [entry(5, 5, 100), entry(6, 5, 101), entry(7, 5, 99)];
    const found = processTree(table, { root: 5, known: new Map(), isMarked: () => true });
    expect(found.map(({ pid }) => pid)).toEqual([5, 6]);
  });

  it('ends with the process that supervises it', async () => {
    const source = `
      import { superviseProcess } from '@cobbler/agent/node';
      const { pid } = superviseProcess({
        argv: ['/bin/sh', '-c', 'trap "" TERM; setsid sleep 60 & echo $! >> pids; echo ready; sleep 60'],
        cwd: ${JSON.stringify(area)}, env: process.env,
        onOutput: (chunk) => String(chunk).includes('ready') && process.exit(0),
      });
      process.stdout.write(String(pid));`;
    const node = ['--no-warnings', '-C', '@cobbler/source', '--input-type=module', '-e', source];
    const pid = Number(execFileSync(process.execPath, node, { encoding: 'utf8', cwd: import.meta.dirname }));
    expect(pid).toBeGreaterThan(1);
    // The kernel may take a while to end killed processes, and their supervisor is gone.
    await vi.waitFor(() => expect([pid, ...pids()].filter(isRunning)).toEqual([]), { timeout: 60_000 });
  });

  it('leaves no listener on the supervising process', async () => {
    await Promise.all(Array.from({ length: 15 }, () => shell('true')));
    expect(process.listenerCount('exit')).toBe(listenersBefore);
  });
});

describe('the output of a process', () => {
  it('keeps only the head and tail of 100 MB and never blocks the process [P10]', async () => {
    const end = await shell(`printf first; head -c 100000000 /dev/zero | tr '\\0' x; printf last`, {
      maxOutputBytes: 1000,
    });
    expect(end).toMatchObject({ cause: 'exit', code: 0 });
    expect(end.stdout.total).toBe(100_000_009);
    const text = end.stdout.text();
    expect(text).toMatch(/^firstx+\n\[… 99999009 bytes omitted …\]\nx+last$/);
  });

  it('reaches the callback immediately, with the name of its stream', async () => {
    const seen: string[] = [];
    await shell('echo one; echo two >&2', { onOutput: (chunk, stream) => seen.push(`${stream}:${chunk}`) });
    expect(seen.sort()).toEqual(['stderr:two\n', 'stdout:one\n']);
  });
});

describe('the environment of a child', () => {
  it('contains no variable that could be an API key [P19]', () => {
    const source = {
      PATH: '/bin',
      HOME: '/home/x',
      LC_ALL: 'C',
      ANTHROPIC_API_KEY: 'sk-1',
      OPENAI_API_KEY: 'sk-2',
      GITHUB_TOKEN: 'gh',
      AWS_SECRET_ACCESS_KEY: 'aws',
      NODE_OPTIONS: '--require /tmp/evil.js',
      HTTPS_PROXY: 'http://user:password@proxy',
      npm_config__auth: 'n',
      LC_SECRET_thing: 's',
      TZ: undefined,
    };
    expect(childEnvironment(source, { EXTRA: '1' })).toEqual({
      PATH: '/bin',
      HOME: '/home/x',
      LC_ALL: 'C',
      EXTRA: '1',
    });
  });

  it('contains only the given variables, none of the parent process [P19]', async () => {
    const { stdout } = await shell('env', { env: { PATH: env['PATH'] ?? '/bin:/usr/bin' } });
    const names = stdout
      .text()
      .trim()
      .split('\n')
      .map((line) => line.split('=')[0]);
    expect(
      names.filter(
        (name) => !['PATH', 'PWD', 'SHLVL', '_', 'OLDPWD', 'COBBLER_PROCESS_TREE'].includes(name ?? ''),
      ),
    ).toEqual([]);
  });
});

describe('a process on a fake system', () => {
  /** Returns a child that never ends, with a clock that moves only when a timer fires. */
  function hangingSystem(dies: (signal: string) => boolean) {
    let now = 0;
    const sent: string[] = [];
    const child = Object.assign(new EventEmitter(), {
      pid: 4242,
      exitCode: null,
      signalCode: null as string | null,
      stdin: null,
      stdout: new PassThrough(),
      stderr: new PassThrough(),
      unref: () => {},
    });
    const options: ProcessOptions = {
      argv: ['program'],
      cwd: '/',
      env: {},
      runtime: {
        monotonic: () => now,
        timer: (ms, fire) => {
          const handle = setImmediate(() => {
            now += ms;
            fire();
          });
          return () => clearImmediate(handle);
        },
      },
      spawn: () => child as unknown as ChildProcess,
      system: {
        kill: (pid, signal) => {
          sent.push(`${signal} ${pid} at ${now}`);
          if (!dies(signal)) return;
          child.signalCode = signal;
          child.emit('exit', null, signal);
          // Runs after the tree is found to be gone, and before a timer that starts then fires.
          setImmediate(() =>
            setImmediate(() => {
              child.stdout.emit('data', Buffer.from('last words'));
              child.emit('close');
            }),
          );
        },
        table: () =>
          child.signalCode === null ? [{ pid: 4242, parent: 1, group: 4242, session: 4242, started: 5 }] : [],
        startedWith: () => false,
      },
    };
    return { options, sent, clock: () => now };
  }

  it('gets SIGTERM for its group, and SIGKILL only after the grace period [P3]', async () => {
    const { options, sent } = hangingSystem((signal) => signal === 'SIGKILL');
    const supervised = superviseProcess({ ...options, graceMs: 1000 });
    supervised.stop();
    expect(await supervised.ended).toMatchObject({ cause: 'aborted', signal: 'SIGKILL' });
    expect(sent[0]).toBe('SIGTERM -4242 at 0');
    expect(sent[1]).toMatch(/^SIGKILL -4242 at 1\d\d\d$/);
    expect(sent.filter((line) => line.startsWith('SIGTERM'))).toHaveLength(1);
  });

  it('waits for output that the program wrote before it ended', async () => {
    const { options } = hangingSystem(() => true);
    const supervised = superviseProcess({ ...options, drainMs: 1e9 });
    supervised.stop();
    expect((await supervised.ended).stdout.text()).toBe('last words');
  });

  it('settles within five seconds if it cannot be killed [P3]', async () => {
    const { options, sent, clock } = hangingSystem(() => false);
    const supervised = superviseProcess(options);
    supervised.stop();
    expect(await supervised.ended).toMatchObject({ cause: 'aborted', code: null, signal: null });
    expect(clock()).toBeLessThan(5000);
    expect(sent.length).toBeGreaterThan(2);
  });
});

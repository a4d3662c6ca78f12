import type { ChildProcess } from 'node:child_process';
import { mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemRuntime } from '@cobbler/agent';
import type { SandboxOptions } from '@cobbler/agent/sandbox';
import { bwrapSandbox } from '@cobbler/agent/sandbox';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sandboxFor } from '../src/command-sandbox.ts';
import type { RunCommandOptions } from '../src/index.ts';
import { runCommand, Workspace } from '../src/index.ts';
import type { Called, CallOptions, Sandbox } from './sandbox.ts';
import { call, sandbox } from './sandbox.ts';

let box: Sandbox;

beforeEach(() => {
  box = sandbox();
});

afterEach(() => box.remove());

interface Given extends RunCommandOptions, CallOptions {
  readonly args?: Record<string, unknown>;
}

function run(command: string, { args, signal, onProgress, ...options }: Given = {}): Promise<Called> {
  const tool = runCommand(new Workspace(box.root), { sandbox: 'off', graceMs: 200, ...options });
  return call(tool, { command, ...args }, { ...(signal && { signal }), ...(onProgress && { onProgress }) });
}

/** True if a process is running. A zombie, which has ended but is not reaped, is not. */
function isRunning(pid: string): boolean {
  try {
    const stat = readFileSync(`/proc/${Number(pid)}/stat`, 'latin1');
    return !stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z');
  } catch {
    return false;
  }
}

describe('run_command', () => {
  it('runs a shell command in the workspace and returns its output and exit code', async () => {
    box.write('a b.txt', 'x');
    const { text, isError, output } = await run('ls; pwd');
    expect(text).toBe(`[exit 0]\na b.txt\n${realpathSync(box.root)}\n`);
    expect(isError).toBe(false);
    expect(output?.summary).toBe('exit 0');
  });

  it('names the hosts of its sandbox, and can then send data [P21]', () => {
    const within = (network: SandboxOptions['network'] = false) =>
      runCommand(new Workspace(box.root), {
        sandbox: bwrapSandbox({ workspace: box.root, network }, '/bwrap'),
      });
    expect(within().description).toMatch(/no network apart from its own loopback\.$/);
    expect(within().sends).toBe(false);
    const listed = within({ hosts: ['a.example', 'b.example:8443'] });
    expect(listed.description).toMatch(
      /through the proxy in HTTPS_PROXY, these hosts: a\.example, b\.example:8443\.$/,
    );
    expect(listed.sends).toBe(true);
    expect(within(true).description).toMatch(/and has a network\.$/);
    expect(within(true).sends).toBe(true);
  });

  it('keeps the network of its sandbox, and otherwise adds one only to a call that needs it [P21]', () => {
    const network = (given: boolean, need?: 'network') =>
      sandboxFor(bwrapSandbox({ workspace: box.root, network: given }, '/bwrap'), 'ls', need)?.hosts;
    expect([network(true), network(false, 'network')]).toEqual([['*'], ['*']]);
    expect(network(false)).toBeUndefined();
  });

  it('reports a failed command as a result, not as an error of the tool', async () => {
    const { text, isError, output } = await run('echo wrong >&2; exit 3');
    expect(text).toBe('[exit 3]\nwrong\n');
    expect(isError).toBe(false);
    expect(output?.summary).toBe('exit 3');
    expect((await run('kill -9 $$')).output?.summary).toBe('ended by SIGKILL');
    expect((await run('true')).text).toBe('[exit 0]\n(no output)');
    expect((await run('if')).text).toMatch(/^\[exit 2\]\n.*[Ss]yntax error/);
  });

  it('keeps the order of standard output and standard error', async () => {
    const line = 'for i in 1 2 3 4 5; do echo out$i; echo err$i >&2; done';
    const expected = [1, 2, 3, 4, 5].flatMap((index) => [`out${index}`, `err${index}`]).join('\n');
    expect((await run(line)).text).toBe(`[exit 0]\n${expected}\n`);
  });

  it('runs in a directory of the workspace', async () => {
    box.write('sub/x', '');
    expect((await run('ls', { args: { directory: 'sub' } })).text).toBe('[exit 0]\nx\n');
    expect((await run('ls', { args: { directory: 'none' } })).text).toBe('"none" does not exist.');
    expect((await run('ls', { args: { directory: 'sub/x' } })).isError).toBe(true);
  });

  it('runs no program of the workspace under the name of another [P21]', async () => {
    const folder = join(box.root, 'bin');
    mkdirSync(folder);
    writeFileSync(join(folder, 'ls'), '#!/bin/sh\necho evil', { mode: 0o755 });
    symlinkSync(folder, join(box.area, 'link'));
    const PATH = ['', '.', 'bin', folder, join(box.area, 'link'), '/usr/bin', '/bin'].join(':');
    const tool = runCommand(new Workspace(box.root), {
      sandbox: 'off',
      environment: { PATH, HOME: box.area },
    });
    const { text } = await call(tool, { command: 'cd bin && ls; echo $PATH' });
    expect(text).not.toContain('evil');
    expect(text).toContain('\n/usr/bin:/bin');
  });

  it('provides an empty standard input', async () => {
    expect((await run('cat; read line || echo none')).text).toBe('[exit 0]\nnone\n');
  });

  it('gives commands no secrets of this process, but the configured variables [P19]', async () => {
    const environment = {
      PATH: process.env['PATH'],
      HOME: '/home/x',
      ANTHROPIC_API_KEY: 'sk-hidden',
      GH_TOKEN: 'hidden',
    };
    const { text } = await run('env', { environment, env: { EXTRA: 'wanted' } });
    expect(text).not.toContain('hidden');
    expect(text).toContain('HOME=/home/x');
    expect(text).toContain('EXTRA=wanted');
  });

  it('ends a command at its time limit and keeps its output [P2]', async () => {
    let limit = () => {};
    const runtime = {
      monotonic: systemRuntime.monotonic,
      /** Expires at the first output, so that the speed of the machine does not matter. */
      timer(ms: number, fire: () => void) {
        if (ms !== 150) return systemRuntime.timer(ms, fire);
        limit = fire;
        return () => {};
      },
    };
    const { text, isError, output } = await run('echo begun; sleep 60', {
      timeoutMs: 150,
      runtime,
      onProgress: () => limit(),
    });
    expect(text).toBe('[timed out after 0.15 s and was stopped]\nbegun\n');
    expect(isError).toBe(true);
    expect(output?.summary).toBe('timed out after 0.15 s');
    const own = await run('sleep 60', { args: { timeout_seconds: 0.1 } });
    expect(own.output?.summary).toBe('timed out after 0.1 s');
  });

  it('ends the command and all its child processes on a cancel [P3]', async () => {
    const stop = new AbortController();
    const stubborn = `sh -c 'trap "" TERM; echo $$ > pid; echo ready; while :; do sleep 0.05; done'`;
    const { text, isError } = await run(`(setsid ${stubborn} &) ; wait; sleep 60`, {
      signal: stop.signal,
      onProgress: (line) => line === 'ready' && stop.abort(),
    });
    expect(isError).toBe(true);
    expect(text).toBe('[cancelled]\nready\n');
    expect(isRunning(box.read('pid').trim())).toBe(false);
  });

  it('ends background processes of a command without waiting for them', async () => {
    const { text } = await run('sleep 60 & echo $! > pid; echo done');
    expect(text).toBe('[exit 0]\ndone\n');
    expect(isRunning(readFileSync(join(box.root, 'pid'), 'utf8').trim())).toBe(false);
  });

  it('keeps the start and end of 100 MB of output and never blocks the command [P10]', async () => {
    const { text } = await run(`printf first; head -c 100000000 /dev/zero | tr '\\0' x; printf last`, {
      maxOutputBytes: 2000,
    });
    expect(text).toMatch(/^\[exit 0\]\nfirstx+\n\[… 99998009 bytes omitted …\]\nx+last$/);
  });

  it('never cuts output inside a character [P10]', async () => {
    const { text } = await run(`for i in $(seq 200); do printf '✓ü😀'; done`, { maxOutputBytes: 99 });
    expect(text).not.toContain('\ufffd');
    expect(text).toMatch(/^\[exit 0\]\n[✓ü😀]+\n\[… 1703 bytes omitted …\]\n[✓ü😀]+$/u);
  });

  it('joins characters that arrive in several chunks', async () => {
    const { text } = await run(`printf '\\342'; sleep 0.05; printf '\\234'; sleep 0.05; printf '\\223'`);
    expect(text).toBe('[exit 0]\n✓');
  });

  it('describes binary output and removes control sequences from text', async () => {
    expect((await run('head -c 5000 /dev/urandom')).text).toBe(
      '[exit 0]\n[binary output, 5,000 bytes, not shown]',
    );
    const coloured = `printf '\\033[31mred\\033[0m \\033]0;title\\007ok\\r\\n10%%\\r20%%\\nlong enough to be text \\001\\n'`;
    const { text } = await run(coloured);
    expect(text).toBe('[exit 0]\nred ok\n10%\n20%\nlong enough to be text \ufffd\n');
  });

  it('reports the newest lines as progress, at most once per 100 ms', async () => {
    const stopped = { monotonic: () => 0, timer: systemRuntime.timer };
    const still = await run('for i in $(seq 20000); do echo line $i; done', { runtime: stopped });
    expect(still.progress.length).toBeLessThanOrEqual(4);
    for (const line of still.progress) expect(line).toMatch(/^line \d+$/);
    let now = 0;
    const running = { monotonic: () => (now += 100), timer: systemRuntime.timer };
    const script = 'echo one; sleep 0.1; echo; printf tw; sleep 0.1; printf "o\\nthree\\n  four\\nopen"';
    const moving = await run(script, { runtime: running });
    expect(moving.progress).toEqual(['one', 'two', 'three', '  four']);
    const many = await run("printf '1\\n2\\n3\\n4\\n5\\n6\\n'", { runtime: running });
    expect(many.progress).toEqual(['3', '4', '5', '6']);
  });

  it('does not reveal a path if the shell cannot be started [P10]', async () => {
    const spawn = (): ChildProcess => {
      throw Object.assign(new Error('spawn /usr/lib/secret/sh EACCES'), { code: 'EACCES' });
    };
    expect((await run('true', { spawn })).text).toBe('/bin/sh could not be started: permission denied.');
  });

  it('previews the directory in which the command would run [P21]', async () => {
    const tool = runCommand(new Workspace(box.root), { sandbox: 'off' });
    expect(await tool.preview?.({ command: 'ls' })).toEqual({ summary: 'in the workspace' });
    expect(await tool.preview?.({ command: 'ls', directory: './sub/' })).toEqual({ summary: 'in "sub"' });
  });
});

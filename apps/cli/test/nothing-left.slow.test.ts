import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { shellQuoted } from '../src/permissions/permission-rule.ts';
import { startEditor } from './acp/acp-editor.ts';
import { bareEnvironment, cobbler, command, ended } from './support/binary.ts';
import { claudeAt, mockService, says } from './support/mock-service.ts';
import { temporaryFolder } from './support/temporary-folder.ts';

const patience = { timeout: 120_000 };
const hasScript = spawnSync('script', ['--version']).stdout?.toString().includes('util-linux') ?? false;

/** A command that leaves a long-running child process in a separate session and process group. */
const leaves = 'echo made > made.txt; (setsid sleep 300 </dev/null >/dev/null 2>&1 &) ; echo started';

interface Place {
  readonly env: Readonly<Record<string, string>>;
  readonly work: string;
  /** Waits until no process remains, and returns all unexpected files. */
  remains(): Promise<readonly string[]>;
}

/** Creates directories for everything a program may write, and a mark for its processes. */
async function place(): Promise<Place> {
  const root = temporaryFolder();
  const folder = (name: string) => {
    const path = join(root, name);
    mkdirSync(path);
    return path;
  };
  const [user, work, temporary] = [folder('user'), folder('work'), folder('tmp')];
  const home = join(root, 'home');
  const mark = `left-${process.pid}-${Math.random().toString(36).slice(2)}`;
  const service = await mockService([says('', ['run_command', { command: leaves }]), says('Done.')]);
  const compiled = bareEnvironment()['NODE_COMPILE_CACHE'] ?? '';
  return {
    env: {
      ...claudeAt(service),
      HOME: user,
      COBBLER_HOME: home,
      TMPDIR: temporary,
      NODE_COMPILE_CACHE: compiled,
      LEFT_MARK: mark,
    },
    work,
    async remains() {
      await expect.poll(() => processesWith(mark)).toEqual([]);
      return [
        ...readdirSync(user).map((name) => `in the user's home: ${name}`),
        ...readdirSync(temporary).map((name) => `in the temporary folder: ${name}`),
        ...readdirSync(work)
          .filter((name) => name !== 'made.txt')
          .map((name) => `in the workspace: ${name}`),
        ...filesIn(home).filter((path) => (statSync(path).mode & 0o077) !== 0),
      ];
    },
  };
}

function filesIn(home: string): string[] {
  const found = readdirSync(home, { recursive: true, withFileTypes: true });
  expect(found.length).toBeGreaterThan(0);
  // Node sets the modes of its cache files; Cobbler protects the directory that contains them.
  return found
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => !path.includes('/compiled/'));
}

/** Returns the processes whose environment contains a mark. */
function processesWith(mark: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      return readFileSync(`/proc/${pid}/environ`, 'latin1').includes(mark);
    } catch {
      return false;
    }
  });
}

describe.skipIf(process.platform !== 'linux')('no files or processes remain (needs Linux) [P23]', () => {
  test('after run', patience, async () => {
    const { env, work, remains } = await place();
    const { code } = await cobbler(['run', '--yes', 'Do it.'], { env, cwd: work });
    expect(code).toBe(0);
    expect(readFileSync(join(work, 'made.txt'), 'utf8')).toBe('made\n');
    expect(await remains()).toEqual([]);
  });

  test.skipIf(!hasScript)('after chat (needs script from util-linux)', patience, async () => {
    const { env, work, remains } = await place();
    const line = [...command, 'chat', '--yes'].map(shellQuoted).join(' ');
    const child = spawn('script', ['-qec', `stty cols 80 rows 24; ${line}`, '/dev/null'], {
      cwd: work,
      env: { ...bareEnvironment(env), SHELL: '/bin/sh' },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    let seen = '';
    const typing = [
      ['describe a task', 'Do it.\r'],
      ['Done.', '\u0004'],
    ];
    const { code, stdout } = await ended(child, {
      onOutput: (text) => {
        seen += text;
        const [words, keys] = typing[0] ?? [];
        if (words === undefined || !seen.includes(words)) return;
        typing.shift();
        seen = '';
        child.stdin?.write(keys ?? '');
      },
    });
    expect(stdout).toContain('continue: cobbler chat');
    expect(code).toBe(0);
    expect(readFileSync(join(work, 'made.txt'), 'utf8')).toBe('made\n');
    expect(await remains()).toEqual([]);
  });

  test('after serve', patience, async () => {
    const { env, work, remains } = await place();
    const [program = '', ...flags] = command;
    const child = spawn(program, [...flags, 'serve', '--port', '0', '--yes'], {
      cwd: work,
      env: bareEnvironment(env),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const address = Promise.withResolvers<string>();
    const end = ended(child, { onOutput: (text) => /#token=/.test(text) && address.resolve(text) });
    const [url = '', token = ''] = (await address.promise).trim().split('/#token=');
    const ask = async (method: string, path: string, body?: unknown) => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const sent = body === undefined ? {} : { body: JSON.stringify(body) };
      return (await (await fetch(url + path, { method, headers, ...sent })).json()) as { status?: string };
    };
    await ask('POST', '/v1/sessions', { id: 'work' });
    await ask('POST', '/v1/sessions/work/prompt', { content: 'Do it.' });
    const isDone = async () => (await ask('GET', '/v1/sessions/work')).status;
    await expect.poll(isDone, { timeout: 60_000 }).toBe('complete');
    expect(readFileSync(join(work, 'made.txt'), 'utf8')).toBe('made\n');
    child.kill('SIGTERM');
    expect((await end).code).toBe(0);
    expect(await remains()).toEqual([]);
  });

  test('after acp', patience, async () => {
    const { env, work, remains } = await place();
    const editor = await startEditor({
      cwd: '/',
      env,
      choose: async () => ({ outcome: 'selected', optionId: 'allow' }) as const,
    });
    const { sessionId } = await editor.agent.request('session/new', { cwd: work, mcpServers: [] });
    await editor.agent.request('session/prompt', { sessionId, prompt: [{ type: 'text', text: 'Do it.' }] });
    expect(readFileSync(join(work, 'made.txt'), 'utf8')).toBe('made\n');
    await editor.leave();
    expect(await remains()).toEqual([]);
  });
});

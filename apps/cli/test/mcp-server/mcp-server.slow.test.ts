import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sqliteStore } from '@cobbler/agent/node';
import type { MockReply } from '@cobbler/agent/testing';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { expect, onTestFinished, test } from 'vitest';
import type { McpRunState } from '../../src/mcp-server/mcp-session.ts';
import { bareEnvironment, cobbler, command } from '../support/binary.ts';
import { claudeAt, mockService, says } from '../support/mock-service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const patience = { timeout: 120_000 };

interface Called {
  readonly text: string;
  readonly isError: boolean;
  readonly standing: McpRunState;
}

interface Desk {
  readonly client: Client;
  readonly cwd: string;
  readonly home: string;
  /** The progress messages that the official client received. */
  readonly progress: string[];
  stderr(): string;
  call(name: string, args: Record<string, unknown>, signal?: AbortSignal): Promise<Called>;
}

/** Connects the official MCP client to the real command. */
async function desk(script: readonly MockReply[], args: readonly string[] = [], again?: Desk): Promise<Desk> {
  const service = await mockService(script);
  const folder = temporaryFolder();
  const cwd = again?.cwd ?? join(folder, 'work');
  const home = again?.home ?? join(folder, 'home');
  mkdirSync(cwd, { recursive: true });
  const [program = '', ...flags] = command;
  const transport = new StdioClientTransport({
    command: program,
    args: [...flags, 'mcp', ...args],
    env: bareEnvironment({ ...claudeAt(service), COBBLER_HOME: home }),
    cwd,
    stderr: 'pipe',
  });
  let stderr = '';
  transport.stderr?.on('data', (text: Buffer) => {
    stderr += String(text);
  });
  const client = new Client({ name: 'official', version: '1' });
  await client.connect(transport);
  onTestFinished(() => client.close());
  const progress: string[] = [];
  return {
    client,
    cwd,
    home,
    progress,
    stderr: () => stderr,
    async call(name, given, signal) {
      const options = {
        onprogress: ({ message }: { message?: string | undefined }) => void progress.push(message ?? ''),
        timeout: 50_000,
        ...(signal !== undefined && { signal }),
      };
      const result = await client.callTool({ name, arguments: given }, undefined, options);
      const content = result.content as { text: string }[];
      return {
        text: content[0]?.text ?? '',
        isError: result.isError === true,
        standing: result.structuredContent as unknown as McpRunState,
      };
    },
  };
}

const writes = { path: 'a.txt', content: 'one\n' };

test(
  'cobbler mcp: the official client runs a task and gets the response, progress and usage',
  patience,
  async () => {
    const one = await desk([says('I look.', ['list_files', {}]), says('It is empty.'), says('Still.')]);
    expect((await one.client.listTools()).tools.map(({ name }) => name)).toEqual([
      'cobbler_run',
      'cobbler_status',
      'cobbler_approve',
      'cobbler_steer',
      'cobbler_cancel',
    ]);
    const { text, standing, isError } = await one.call('cobbler_run', { prompt: 'What is here?' });
    expect([text, standing.status, isError]).toEqual(['It is empty.', 'complete', false]);
    expect(standing.usage?.input_tokens).toBeGreaterThan(0);
    expect(one.progress).toContain('list_files');
    const again = await one.call('cobbler_run', { prompt: 'Really?', session_id: standing.session_id });
    expect([again.text, again.standing.session_id]).toEqual(['Still.', standing.session_id]);
    expect(one.stderr()).toBe('');
  },
);

test(
  'cobbler mcp: a call that needs approval waits, is shown and runs when it is allowed [P21]',
  patience,
  async () => {
    const one = await desk([says('', ['write_file', writes]), says('Written.')]);
    const { standing } = await one.call('cobbler_run', { prompt: 'Write.' });
    expect(standing).toMatchObject({
      status: 'waiting',
      approvals: [{ tool: 'write_file', arguments: writes, diff: expect.stringContaining('+one') }],
    });
    expect(existsSync(join(one.cwd, 'a.txt'))).toBe(false);
    const { session_id, approvals = [] } = standing;
    const approval_id = approvals[0]?.approval_id;
    const done = await one.call('cobbler_approve', { session_id, approval_id, decision: 'allow' });
    expect([done.text, done.standing.status]).toEqual(['Written.', 'complete']);
    expect(readFileSync(join(one.cwd, 'a.txt'), 'utf8')).toBe('one\n');
    const twice = await one.call('cobbler_approve', { session_id, approval_id, decision: 'allow' });
    expect([twice.isError, twice.text]).toEqual([true, expect.stringContaining('is waiting for approval')]);
  },
);

test('cobbler mcp: asks whether a run continues beyond a budget', patience, async () => {
  const folder = temporaryFolder();
  const home = { cwd: join(folder, 'work'), home: join(folder, 'home') };
  mkdirSync(home.home);
  writeFileSync(join(home.home, 'config.yaml'), 'budget: me\nbudgets:\n  me: { limits: { requests: 1 } }\n');
  const one = await desk([says('', ['list_files', {}]), says('Done.')], ['--ask-at-limit'], home as Desk);
  const { standing } = await one.call('cobbler_run', { prompt: 'Look.' });
  const { session_id, status, approvals = [] } = standing;
  expect([status, approvals[0]?.subject]).toEqual([
    'waiting',
    expect.stringContaining('1 of 1 request spent'),
  ]);
  const answer = { session_id, approval_id: approvals[0]?.approval_id, decision: 'allow' };
  const done = await one.call('cobbler_approve', answer);
  expect([done.text, done.standing.status]).toEqual(['Done.', 'complete']);
});

test('cobbler mcp: does not run a denied call', patience, async () => {
  const one = await desk([says('', ['write_file', writes]), says('As you wish.')]);
  const { standing } = await one.call('cobbler_run', { prompt: 'Write.' });
  const { session_id, approvals = [] } = standing;
  const answer = { session_id, approval_id: approvals[0]?.approval_id, decision: 'deny', message: 'No.' };
  expect((await one.call('cobbler_approve', answer)).text).toBe('As you wish.');
  expect(existsSync(join(one.cwd, 'a.txt'))).toBe(false);
});

const sleeps = says('', ['run_command', { command: 'sleep 60' }]);

test(
  'cobbler mcp: a cancelled request stops the run, and the session accepts another prompt [P3]',
  patience,
  async () => {
    const one = await desk([sleeps, says('Here again.')], ['--yes']);
    const back = new AbortController();
    const running = one.call('cobbler_run', { prompt: 'Sleep.' }, back.signal);
    await expect.poll(() => one.progress.length, { timeout: 60_000 }).toBeGreaterThan(0);
    back.abort('enough');
    await expect(running).rejects.toThrow();
    const list = (await one.call('cobbler_status', {})).standing as unknown as { sessions: McpRunState[] };
    const { session_id = '' } = list.sessions[0] ?? {};
    const status = async () => (await one.call('cobbler_status', { session_id })).standing.status;
    await expect.poll(status, { timeout: 60_000 }).toBe('cancelled');
    expect((await one.call('cobbler_run', { prompt: 'Awake?', session_id })).text).toBe('Here again.');
  },
);

test('cobbler mcp: a client can check, steer and cancel a background run', patience, async () => {
  const one = await desk([sleeps], ['--yes']);
  const { standing } = await one.call('cobbler_run', { prompt: 'Sleep.', background: true });
  const { session_id } = standing;
  expect(standing.status).toBe('running');
  expect((await one.call('cobbler_status', { session_id, wait_seconds: 0.1 })).standing.status).toBe(
    'running',
  );
  const busy = await one.call('cobbler_run', { prompt: 'More.', session_id });
  expect([busy.isError, busy.text]).toEqual([true, expect.stringContaining('is running')]);
  expect((await one.call('cobbler_steer', { session_id, text: 'Faster.' })).isError).toBe(false);
  expect((await one.call('cobbler_cancel', { session_id })).standing.status).toBe('cancelled');
  expect((await one.call('cobbler_steer', { session_id, text: 'Hello?' })).isError).toBe(true);
});

test(
  'cobbler mcp: stores sessions as run does, and another process can continue them',
  patience,
  async () => {
    const one = await desk([says('Noted.')]);
    const { standing } = await one.call('cobbler_run', { prompt: 'Remember 7.' });
    await one.client.close();
    const { session_id } = standing;
    const store = sqliteStore(join(one.home, 'sessions.db'));
    expect((await store.info(session_id))?.status).toBe('complete');
    await store.close();
    const other = await desk([says('It was 7.')], [], one);
    const list = (await other.call('cobbler_status', {})).standing as unknown as { sessions: McpRunState[] };
    expect(list.sessions).toMatchObject([{ session_id, status: 'complete' }]);
    expect((await other.call('cobbler_run', { prompt: 'What was it?', session_id })).text).toBe('It was 7.');
  },
);

test('cobbler mcp: rejects invalid arguments with an error message', patience, async () => {
  const one = await desk([]);
  const refused = async (name: string, args: Record<string, unknown>) => {
    const { isError, text } = await one.call(name, args);
    expect(isError).toBe(true);
    return text;
  };
  expect(await refused('cobbler_run', {})).toContain('prompt is required');
  expect(await refused('cobbler_run', { prompt: 'x', session_id: 'none' })).toContain(
    'There is no session "none"',
  );
  expect(await refused('cobbler_status', { session_id: '../x' })).toContain('There is no session');
  expect(await refused('cobbler_status', { session_id: 7 })).toContain('session_id must be a string');
  expect(await refused('cobbler_dance', {})).toContain('Unknown tool');
});

test('cobbler mcp: reports a model failure with the address of the service', patience, async () => {
  const one = await desk([], ['--base-url', 'http://127.0.0.1:9', '--timeout', '2s']);
  const { isError, standing } = await one.call('cobbler_run', { prompt: 'Hello.' });
  expect([isError, standing.status]).toEqual([true, expect.stringMatching(/failed|timeout/)]);
  expect(standing.problem).toContain('127.0.0.1:9');
});

test('cobbler mcp: writes only protocol messages, and exits at the end of its input', patience, async () => {
  const service = await mockService([]);
  const home = temporaryFolder();
  const { code, stdout } = await cobbler(['mcp'], {
    env: { ...claudeAt(service), COBBLER_HOME: home },
    cwd: home,
    input: 'garbage\n{"jsonrpc":"2.0","id":1,"method":"ping"}\n',
  });
  expect([
    code,
    stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
  ]).toEqual([0, [{ jsonrpc: '2.0', id: 1, result: {} }]]);
});

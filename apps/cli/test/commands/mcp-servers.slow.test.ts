import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ToolContext } from '@cobbler/agent';
import { Budget } from '@cobbler/agent';
import { describe, expect, onTestFinished, test } from 'vitest';
import { config } from '../../src/commands/config.ts';
import { doctor } from '../../src/commands/doctor.ts';
import { openMcp, readMcpFlag } from '../../src/config/mcp-servers.ts';
import { cobbler } from '../support/binary.ts';
import { fakeIo } from '../support/fake-io.ts';
import { greeter, greeterFlag, greeterStarts, greetersLeft } from '../support/greeter.ts';
import type { Ending } from '../support/in-process.ts';
import { invoke } from '../support/in-process.ts';
import { claudeAt, mockService, says, testKey } from '../support/mock-service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

interface Place {
  readonly cwd: string;
  readonly home: string;
  /** The file in which the server records its starts. */
  readonly log: string;
  /** The value of the `--mcp` option. */
  readonly flag: string;
}

function place(servers?: string): Place {
  const folder = temporaryFolder();
  const [cwd, home, log] = ['work', 'home', 'log'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  mkdirSync(cwd);
  mkdirSync(home, { mode: 0o700 });
  if (servers !== undefined) writeFileSync(join(home, 'config.yaml'), servers, { mode: 0o600 });
  return { cwd, home, log, flag: greeterFlag(log) };
}

const configured = (log: string, more = '') =>
  `mcp:\n  greeter:\n    command: ${process.execPath}\n    args: [${greeter}, ${log}]\n${more}`;

const greets = () => [says('', ['mcp__greeter__greet', { name: 'Ada' }]), says('Done.')];

async function ran(
  { cwd, home }: Place,
  args: readonly string[],
  script = greets(),
): Promise<Ending & { sent: string; tools: string[] }> {
  const service = await mockService(script);
  const end = await invoke([...args, 'greet Ada'], {
    env: { ...claudeAt(service), COBBLER_HOME: home },
    cwd,
  });
  const { exchanges } = service.server;
  const body = (exchanges[0] as { body?: { tools?: { name: string }[] } } | undefined)?.body;
  return { ...end, sent: JSON.stringify(exchanges), tools: (body?.tools ?? []).map(({ name }) => name) };
}

describe('cobbler run with MCP servers', () => {
  test('calls a tool of a server from --mcp and leaves no process behind [P3]', async () => {
    const here = place();
    const { code, sent } = await ran(here, ['--mcp', here.flag, '--yes']);
    expect(code).toBe(0);
    expect(sent).toContain('Good day, Ada!');
    expect(greeterStarts(here.log)).toHaveLength(1);
    expect(greetersLeft(here.log)).toEqual([]);
  });

  test('asks about tools of a configured server, and denies them without a user to ask [P21]', async () => {
    const here = place();
    writeFileSync(join(here.home, 'config.yaml'), configured(here.log), { mode: 0o600 });
    const { code, sent } = await ran(here, []);
    expect(code).toBe(5);
    expect(sent).not.toContain('Good day');
    const allowed = await ran(here, ['--allow', 'mcp__greeter__greet']);
    expect([allowed.code, allowed.sent.includes('Good day, Ada!')]).toEqual([0, true]);
  });

  test.each([
    ['denies', '', 5, false],
    ['allows', '    trusted: true\n', 0, true],
  ])(
    '%s, with --yes, what the model calls after it has read the output of a server with settings %j [P21]',
    async (_, more, code, isSent) => {
      const here = place();
      writeFileSync(join(here.home, 'config.yaml'), configured(here.log, more), { mode: 0o600 });
      const obeys = says('', ['mcp__greeter__greet', { name: 'the injected name' }]);
      const end = await ran(here, ['--yes'], [...greets().slice(0, 1), obeys, says('Done.')]);
      expect(end.sent).toContain('Good day, Ada!');
      expect([end.code, end.sent.includes('Good day, the injected name!')]).toEqual([code, isSent]);
    },
  );

  test('does not ask about a tool that the configuration declares as read', async () => {
    const here = place();
    writeFileSync(join(here.home, 'config.yaml'), configured(here.log, '    effects: { greet: read }\n'));
    const { code, sent } = await ran(here, []);
    expect([code, sent.includes('Good day, Ada!')]).toEqual([0, true]);
  });

  test('reports a server that cannot start and runs the task without it', async () => {
    const here = place();
    const { code, stderr } = await ran(here, ['--mcp', 'gone=no-such-program-of-cobbler'], [says('Done.')]);
    expect(code).toBe(0);
    expect(stderr).toMatch(
      /cobbler: The MCP server gone is not ready: .*was not found.*Its tools are not available\./,
    );
  });

  test("ignores servers in a project's file [P21]", async () => {
    const here = place();
    mkdirSync(join(here.cwd, '.cobbler'));
    writeFileSync(join(here.cwd, '.cobbler', 'config.yaml'), configured(here.log));
    const { code } = await ran(here, ['--yes'], [says('Done.')]);
    expect([code, greeterStarts(here.log)]).toEqual([0, []]);
  });

  test("applies deny rules from a project's file to their tools [P21]", async () => {
    const here = place();
    mkdirSync(join(here.cwd, '.cobbler'));
    writeFileSync(join(here.cwd, '.cobbler', 'config.yaml'), 'permissions:\n  deny: [mcp__greeter__*]\n');
    const { sent } = await ran(here, ['--mcp', here.flag, '--yes']);
    expect(sent).not.toContain('Good day');
  });

  test('does not start a server without allowed tools, and accepts a server name for all its tools', async () => {
    const here = place();
    expect((await ran(here, ['--mcp', here.flag, '--tools', 'read_file'], [says('Done.')])).code).toBe(0);
    expect(greeterStarts(here.log)).toEqual([]);
    const { sent } = await ran(here, ['--mcp', here.flag, '--tools', 'mcp__greeter', '--yes']);
    expect(sent).toContain('Good day, Ada!');
    expect(sent).not.toContain('read_file');
  });

  test('replays a recorded run without starting servers', async () => {
    const here = place();
    const cassette = join(here.home, 'run.jsonl');
    const first = await ran(here, ['--mcp', here.flag, '--yes', '--json', '--record', cassette]);
    expect([first.code, greeterStarts(here.log).length]).toEqual([0, 1]);
    const env = { COBBLER_HOME: here.home };
    const replay = await invoke(['--replay', cassette, '--json'], { env, cwd: here.cwd });
    expect([replay.code, replay.stdout]).toEqual([0, first.stdout]);
    expect(greeterStarts(here.log)).toHaveLength(1);
  });

  test('rejects --mcp with --backend', async () => {
    const here = place();
    const { code, stderr } = await ran(here, ['--mcp', here.flag, '--backend', 'codex']);
    expect([code, stderr]).toEqual([
      2,
      'cobbler: --mcp cannot be used with --backend: the backend has its own MCP servers.\n',
    ]);
  });

  test('starts servers in the directory of the task, also in a separate process', async () => {
    const here = place();
    const service = await mockService([says('', ['mcp__greeter__where', {}]), says('Done.')]);
    const end = await cobbler(['--mcp', here.flag, '--yes', 'where?'], {
      env: { ...claudeAt(service), COBBLER_HOME: here.home },
      cwd: here.cwd,
    });
    expect([end.code, JSON.stringify(service.server.exchanges).includes(here.cwd)]).toEqual([0, true]);
    expect(greetersLeft(here.log)).toEqual([]);
  });
});

test('announces a changed tool list and applies it from the next conversation [S4.11]', async () => {
  const { cwd, home, flag } = place();
  const told: string[] = [];
  const io = fakeIo({ env: { COBBLER_HOME: home, PATH: process.env['PATH'] ?? '' }, cwd });
  const mcp = await openMcp({ mcp: [flag] }, {}, cwd, (line) => told.push(line), io);
  onTestFinished(() => mcp.close());
  const before = mcp.tools();
  const context: ToolContext = {
    signal: new AbortController().signal,
    callId: 'c',
    idempotencyKey: 'k',
    budget: new Budget(),
    progress: () => undefined,
  };
  await before[0]?.execute({ name: 'more' }, context);
  await expect.poll(() => mcp.tools().length, { timeout: 60_000 }).toBe(3);
  expect(before).toHaveLength(2);
  expect(told).toEqual([
    'The MCP server greeter has changed its tools: +mcp__greeter__more. The changes will apply starting with the next conversation.',
  ]);
});

describe('--mcp', () => {
  test.each([
    ['files=npx -y srv "a b" \'c d\'', 'files', { command: 'npx', args: ['-y', 'srv', 'a b', 'c d'] }],
    ['web=https://example.org/mcp?x=1', 'web', { url: 'https://example.org/mcp?x=1' }],
    ['https://api.example.org/mcp', 'api-example-org', { url: 'https://api.example.org/mcp' }],
  ])('parses %s', (text, name, wanted) => {
    expect(readMcpFlag(text)).toEqual({ name, config: wanted });
  });

  test.each(['files', 'a b=c', 'a__b=c', '=c', 'key=', 'ftp://x'])(
    'rejects %j without showing the rest of the value [P19]',
    (text) => {
      expect(() => readMcpFlag(text)).toThrow('not NAME=COMMAND or a URL');
      expect(() => readMcpFlag('a b=sk-secret')).not.toThrow('sk-secret');
    },
  );
});

describe('the configuration of MCP servers', () => {
  const shown = async (servers: string) => {
    const { home, cwd } = place(servers);
    const io = fakeIo({ env: { COBBLER_HOME: home, ANTHROPIC_API_KEY: testKey, LANG: 'C.UTF-8' }, cwd });
    return { io, home };
  };

  test('is shown by cobbler config without arguments, variables and headers [P19]', async () => {
    const { io } = await shown(
      'mcp:\n  a:\n    command: npx\n    args: [x, --key=geheim]\n    env: { K: geheim }\n' +
        '  b:\n    url: https://example.org/mcp?key=geheim\n    headers: { authorization: geheim }\n',
    );
    expect(await config([], io)).toBe(0);
    expect(io.stdout.text()).toMatch(/^mcp a +npx and 2 arguments +\S+config\.yaml:1$/m);
    expect(io.stdout.text()).toMatch(/^mcp b +https:\/\/example\.org\/mcp +\S+config\.yaml:1$/m);
    expect(io.stdout.text()).not.toContain('geheim');
  });

  test('cobbler doctor connects to each server and shows its tools and time, or the failure', async () => {
    const log = join(temporaryFolder(), 'log');
    const { io } = await shown(
      `${configured(log)}  gone:\n    command: no-such-program-of-cobbler\n  off:\n    command: x\n    disabled: true\n`,
    );
    expect(await doctor({}, io)).toBe(1);
    const lines = io.stdout.text();
    expect(lines).toMatch(/mcp greeter +greeter 1\.0, 2 tools in [\d.,]+ ?m?s/);
    expect(lines).toMatch(/mcp gone +The MCP server gone is not ready/);
    expect(lines).toMatch(/mcp off +disabled/);
    expect(greetersLeft(log)).toEqual([]);
  });

  test.each([
    ['mcp: 7', '"mcp" must map server names'],
    ['mcp: { a__b: { command: x } }', 'entry "a__b" has an invalid name'],
    ['mcp: { a: {} }', 'must have a command or a url, not both'],
    ['mcp: { a: { command: x, url: "http://y" } }', 'must have a command or a url, not both'],
    ['mcp: { a: { command: x, headers: {} } }', 'has an unknown field "headers"'],
    ['mcp: { a: { command: x, args: [7] } }', 'has an invalid "args": it must be a list of strings'],
    ['mcp: { a: { command: x, effects: { b: never } } }', 'must map tools to "read", "idempotent" or "once"'],
    ['mcp: { a: { url: "ftp://y" } }', 'has an invalid "url": it must be an http or https URL'],
  ])('rejects %s and names its line', async (text, problem) => {
    const { io } = await shown(`model: best\n${text}\n`);
    await expect(config([], io)).rejects.toThrow(/config\.yaml:2: /);
    await expect(config([], io)).rejects.toThrow(problem);
  });
});

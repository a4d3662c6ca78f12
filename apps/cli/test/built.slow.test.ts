import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chatTesting } from '@cobbler/provider-openai/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { BuiltCli } from './support/built-cli.ts';
import { buildCli } from './support/built-cli.ts';
import { claudeAt, mockService, says, testKey } from './support/mock-service.ts';
import { temporaryFolder } from './support/temporary-folder.ts';

const patience = { timeout: 120_000 };

let cli: BuiltCli;
beforeAll(() => {
  cli = buildCli();
}, 120_000);
afterAll(() => cli?.remove());

/** Returns an environment for a model with a known price, as most runs use. */
async function claude(): Promise<Record<string, string>> {
  const service = await mockService([says('Hello.')]);
  return { ...claudeAt(service), COBBLER_MODEL: 'claude:claude-sonnet-5-5' };
}

/** Returns those names that are loaded; a name that ends with a slash is a directory. */
function of(parts: ReadonlySet<string>, ...names: readonly string[]): string[] {
  return names.filter((name) =>
    name.endsWith('/') ? [...parts].some((part) => part.startsWith(name)) : parts.has(name),
  );
}

const heavy = [
  'yaml',
  'zod',
  'openai',
  'diff',
  '@pydantic/genai-prices',
  'provider-openai/',
  '@agentclientprotocol/sdk',
  'acp/',
  '@modelcontextprotocol/sdk',
  'tools/mcp/',
  'mcp-server/',
  'ajv',
  'json-schema-library',
  're2js',
  'assistant/telegram/',
  '@ai-sdk/anthropic',
  'provider-ai-sdk/',
  'assistant/',
  'agent/testing/',
  'agent/cassette/',
  'commands/demo.ts',
  'explain/',
  'commands/explain.ts',
  'commands/doctor.ts',
  'commands/config.ts',
  'doctor/transcript.ts',
];

describe('the CLI without other installed packages', () => {
  test('runs a task', patience, async () => {
    const { code, stdout, stderr } = await cli.run(['say', 'hello'], await claude());
    expect([code, stdout, stderr]).toEqual([0, 'Hello.\n', expect.stringContaining('complete')]);
  });

  test('runs the demo', patience, async () => {
    const { code, stderr } = await cli.run(['demo'], { TMPDIR: temporaryFolder() });
    expect([code, stderr]).toEqual([0, expect.stringContaining('complete')]);
  });

  test('records, replays and checks a run', patience, async () => {
    const file = join(temporaryFolder(), 'run.jsonl');
    await cli.run(['--record', file, '--json', 'hello'], await claude());
    const replay = await cli.run(['--replay', file, '--json']);
    expect(replay.code).toBe(0);
    const log = join(temporaryFolder(), 'log.jsonl');
    writeFileSync(log, replay.stdout);
    const check = await cli.run(['doctor', log]);
    expect([check.code, of(check.parts, 'zod')]).toEqual([0, ['zod']]);
  });
});

describe('the parts that only some commands load', () => {
  test('all load, including CommonJS packages', patience, async () => {
    const { code, stderr, parts } = await cli.importAll();
    expect([code, stderr]).toEqual([0, '']);
    const names = ['pg', '@restatedev/restate-sdk', 'store-postgres/', 'runner-restate/'];
    expect(of(parts, ...names)).toEqual(names);
  });

  test('include a PostgreSQL driver that reports an unreachable database', async () => {
    const args = ['serve', '--port', '0', '--store', 'postgres://127.0.0.1:1/none'];
    const { code, stderr } = await cli.run(args, await claude());
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining('Cannot reach the database postgres://127.0.0.1:1/none'),
    ]);
  });
});

describe('a start', () => {
  test.each([
    [['--version'], 12],
    [['--help'], 43],
    [['run', '-h'], 43],
  ])('%j loads less than %i kilobytes and no package', async (args, kilobytes) => {
    const { code, files, parts, builtins } = await cli.run(args);
    expect(code).toBe(0);
    expect(bytesOf(files)).toBeLessThan(kilobytes * 1000);
    expect(
      [...parts].filter((part) => !/^((terminal|start|command-line)\/)?[a-z-]+\.ts$/.test(part)),
    ).toEqual([]);
    expect(
      [...builtins].filter((name) => /^(https?|child_process|worker_threads|internal\/deps\/.*)$/.test(name)),
    ).toEqual([]);
  });

  test('with a task loads the loop, the tools and one provider, less than 645 kilobytes in total', async () => {
    const { parts, files, builtins } = await cli.run(['hello'], await claude());
    expect(
      of(parts, 'commands/run.ts', 'agent/loop/executor.ts', 'tools/', '@anthropic-ai/sdk'),
    ).toHaveLength(4);
    expect(of(parts, ...heavy)).toEqual([]);
    expect(bytesOf(files)).toBeLessThan(645_000);
    expect(['https', 'process'].filter((name) => builtins.has(name))).toEqual([]);
  });

  test('with --no-session does not load SQLite', async () => {
    const kept = await cli.run(['hello'], await claude());
    const { code, builtins } = await cli.run(['--no-session', 'hello'], await claude());
    expect(code).toBe(0);
    expect([kept.builtins.has('sqlite'), builtins.has('sqlite')]).toEqual([true, false]);
  });

  test('with the OpenAI provider loads only that provider', async () => {
    const service = await mockService([says('Hello.')], chatTesting);
    const args = ['-m', 'openai:m', '--api', 'chat', '--base-url', service.url, 'hello'];
    const { code, parts } = await cli.run(args, { OPENAI_API_KEY: testKey });
    expect(code).toBe(0);
    expect(of(parts, 'openai', 'provider-openai/', '@anthropic-ai/sdk', 'provider-claude/')).toEqual([
      'openai',
      'provider-openai/',
    ]);
  });

  test('loads the YAML parser for a configuration file, and the price list for an unknown price', async () => {
    const home = temporaryFolder();
    writeFileSync(join(home, 'config.yaml'), 'model: claude-unheard-of\n');
    const { COBBLER_MODEL: _, ...env } = await claude();
    const { code, parts } = await cli.run(['hello'], { ...env, COBBLER_HOME: home });
    expect(code).toBe(0);
    expect(of(parts, ...heavy)).toEqual(['yaml', '@pydantic/genai-prices']);
  });
});

test('acp loads the protocol but no chat', patience, async () => {
  const { code, stdout, parts } = await cli.run(['acp'], await claude());
  expect([code, stdout]).toEqual([0, '']);
  expect(of(parts, '@agentclientprotocol/sdk', 'acp/', 'chat/chat.ts', 'commands/chat.ts')).toEqual([
    '@agentclientprotocol/sdk',
    'acp/',
  ]);
});

test(
  'the assistant loads its memory, but no Telegram channel and no provider for a scripted model',
  patience,
  async () => {
    const { code, stderr, parts } = await cli.run(['assistant', '--local']);
    expect([code, stderr]).toEqual([0, expect.stringContaining('scripted model')]);
    const names = [
      'assistant/',
      'assistant/sqlite/',
      'assistant/telegram/',
      '@ai-sdk/anthropic',
      '@anthropic-ai/sdk',
    ];
    expect(of(parts, ...names)).toEqual(['assistant/', 'assistant/sqlite/']);
  },
);

test('mcp loads the MCP server but no MCP client', patience, async () => {
  const { code, stdout, parts } = await cli.run(['mcp'], await claude());
  expect([code, stdout]).toEqual([0, '']);
  expect(of(parts, '@modelcontextprotocol/sdk', 'mcp-server/', 'tools/mcp/', 'chat/chat.ts')).toEqual([
    '@modelcontextprotocol/sdk',
    'mcp-server/',
  ]);
});

test('run with --mcp loads the MCP client, which works in the bundle', patience, async () => {
  const service = await mockService([says('', ['mcp__greeter__greet', { name: 'Ada' }]), says('Done.')]);
  const greeter = fileURLToPath(new URL('support/mcp-greeter.ts', import.meta.url));
  const args = ['--mcp', `greeter=${process.execPath} ${greeter}`, '--yes', 'greet'];
  const { code, stderr, parts } = await cli.run(args, claudeAt(service));
  expect([code, stderr]).toEqual([0, expect.stringContaining('complete')]);
  expect(JSON.stringify(service.server.exchanges)).toContain('Good day, Ada!');
  expect(of(parts, 'tools/mcp/', 'mcp-server/')).toEqual(['tools/mcp/']);
});

describe('the compile cache of Node', () => {
  test('is stored for the next start in a private directory', async () => {
    const home = join(temporaryFolder(), 'home');
    const env = { ...(await claude()), COBBLER_HOME: home };
    expect((await cli.run(['hello'], env)).code).toBe(0);
    const folder = join(home, 'compiled');
    expect([home, folder].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o700]);
    expect(readdirSync(folder, { recursive: true }).length).toBeGreaterThan(10);
  });

  test('is not stored without a home, and --version creates no home', async () => {
    const home = temporaryFolder();
    const none = join(home, 'none');
    expect((await cli.run(['models'], { HOME: none })).code).toBe(0);
    expect((await cli.run(['--version'], { HOME: home })).code).toBe(0);
    expect([existsSync(none), readdirSync(home)]).toEqual([false, []]);
  });
});

test('NOTICES.txt contains the license of every bundled package', () => {
  const text = readFileSync(join(cli.folder, 'dist', 'NOTICES.txt'), 'utf8');
  const notes = text.split(/^={80}$/m).map((note) => note.trim());
  // A package that is bundled in two versions has two notices.
  expect([...new Set(notes.map((note) => note.split(' ')[0]))]).toEqual(cli.packages);
  expect(cli.packages).toContain('@anthropic-ai/sdk');
  for (const note of notes) expect(note).toMatch(/permission|permitted|licen[cs]e/i);
  expect(notes.filter((note) => note.length < 500)).toEqual([]);
});

function bytesOf(files: readonly string[]): number {
  return files.reduce((sum, name) => sum + statSync(join(cli.folder, 'dist', name)).size, 0);
}

test(
  'an agent of a folder runs a tool that its user wrote, with no package installed',
  patience,
  async () => {
    const folder = temporaryFolder();
    const agent = join(folder, 'helper');
    expect(await cli.run(['new', 'agent', agent])).toMatchObject({ code: 0, stderr: '' });
    const tool = readFileSync(join(agent, 'tools/count_words.ts'), 'utf8');
    writeFileSync(join(agent, 'tools/count_words.ts'), tool.replace('.length', '.length * 100'));
    writeFileSync(
      join(agent, 'tools/greet.ts'),
      `import { defineTool } from '@cobbler/agent';
export default defineTool({ name: 'greet', description: 'Greets.', effect: 'read', parameters: {}, execute: () => 'Good day!' });`,
    );
    const service = await mockService([
      says('', ['count_words', { text: 'a b c' }], ['greet', {}]),
      says('Done.'),
    ]);
    const { code, stdout, stderr, parts } = await cli.run(['--agent', agent, 'count'], claudeAt(service));
    expect([code, stdout, stderr]).toEqual([0, 'Done.\n', expect.stringContaining('agent helper')]);
    const sent = JSON.stringify(service.server.exchanges);
    expect([sent.includes('300'), sent.includes('Good day!')]).toEqual([true, true]);
    expect(of(parts, 'project/module-loader.ts', 'project/agent-folder.ts')).toHaveLength(2);
  },
);

test('the documentation is in the package, and only its own command loads it', patience, async () => {
  const { code, stdout, parts } = await cli.run(['docs', 'search', 'overloaded', 'retry', '-n', '1']);
  expect([code, stdout]).toEqual([
    0,
    expect.stringMatching(/^limits: Limits and cost > When a service is over/),
  ]);
  expect(of(parts, 'explain/docs-search.ts', ...heavy.filter((name) => name !== 'explain/'))).toEqual([
    'explain/docs-search.ts',
  ]);
});

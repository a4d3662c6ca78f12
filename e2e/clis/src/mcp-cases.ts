import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sqliteStore } from '@cobbler/agent/node';
import type { Case } from './cli-cases.ts';
import type { Rig } from './rig.ts';
import { expect, expectEqual } from './rig.ts';

/** Cobbler as a tool of the real Claude Code. */
export const mcpCases: readonly Case[] = [
  {
    name: 'claude: mcp gives a task to cobbler mcp and gets its response',
    run: async (rig) => {
      const events = await claudeWithCobbler(rig, ['--edits'], 'scene:mcp made-by-cobbler');
      const file = join(rig.workspace, 'made-by-cobbler');
      expectEqual(readFileSync(file, 'utf8'), 'by cobbler', 'the file');
      const init = events.find(({ subtype }) => subtype === 'init');
      const servers = init?.['mcp_servers'] as { name: string; status: string }[] | undefined;
      expectEqual(
        servers?.map(({ name, status }) => [name, status]),
        [['cobbler', 'connected']],
        'the servers',
      );
      expect(JSON.stringify(events).includes('Cobbler wrote it.'), "Cobbler's response in Claude's results");
      expectEqual(events.at(-1)?.['result'], 'Cobbler has done it.', "Claude's response");
      expectEqual(rig.requests(), 4, 'the requests of both models');
      const store = sqliteStore(join(rig.area, 'cobbler', 'sessions.db'));
      const { sessions } = await store.list({ limit: 10 });
      await store.close();
      expectEqual(
        sessions.map(({ status }) => status),
        ['complete'],
        'the stored sessions',
      );
    },
  },
  {
    name: 'claude: mcp a call without permission waits for approval and does not run [P21]',
    run: async (rig) => {
      const events = await claudeWithCobbler(rig, [], 'scene:mcp never-made');
      expect(!existsSync(join(rig.workspace, 'never-made')), 'no file');
      const told = JSON.stringify(events);
      expect(told.includes('approval_id') && told.includes('write_file'), 'the waiting call with its id');
    },
  },
];

type Line = Readonly<Record<string, unknown>>;

/** Runs the real program with our MCP server only, and returns its output. */
async function claudeWithCobbler(rig: Rig, args: readonly string[], prompt: string): Promise<Line[]> {
  const main = join(import.meta.dirname, '..', '..', '..', 'apps', 'cli', 'src', 'main.ts');
  const cobbler = {
    command: process.execPath,
    args: ['--conditions=@cobbler/source', '--no-warnings', main, 'mcp', ...args],
    env: { COBBLER_HOME: join(rig.area, 'cobbler'), COBBLER_MODEL: 'claude:claude-sonnet-4-5' },
  };
  const servers = join(rig.area, 'mcp.json');
  writeFileSync(servers, JSON.stringify({ mcpServers: { cobbler } }));
  const flags = [
    '--mcp-config',
    servers,
    '--strict-mcp-config',
    '--allowedTools',
    'mcp__cobbler__cobbler_run',
  ];
  const child = spawn(
    rig.programs.claude,
    ['-p', prompt, '--output-format', 'stream-json', '--verbose', ...flags],
    {
      cwd: rig.workspace,
      env: { ...rig.env, ...rig.claude.extraEnv, ENABLE_TOOL_SEARCH: 'false' },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => {
    text += String(chunk);
  });
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  const lines = text.trim().split('\n');
  const events = lines.map((line) => JSON.parse(line) as Line);
  expectEqual(code, 0, 'the exit code of claude');
  return events;
}

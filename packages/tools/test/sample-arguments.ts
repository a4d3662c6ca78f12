import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Tool } from '@cobbler/agent';
import { fakeRuntime } from '@cobbler/agent/testing';
import {
  BackgroundCommands,
  backgroundTool,
  editFile,
  listFiles,
  readFile,
  runCommand,
  searchFiles,
  Workspace,
  writeFile,
} from '../src/index.ts';
import { planTool, todosTool } from '../src/planning/index.ts';
import { waitTool } from '../src/wait-until.ts';
import { webFetchTool } from '../src/web/web-fetch.ts';

const folder = mkdtempSync(join(tmpdir(), 'sample-arguments-'));

const workspace = new Workspace(folder);
const command = () => ({
  sandbox: 'off' as const,
  ...{ env: { A: 'b' }, environment: { PATH: '/bin' }, timeoutMs: 10, maxTimeoutMs: 100, graceMs: 10 },
  ...{ maxOutputBytes: 1_000, runtime: fakeRuntime() },
});
const server = { command: 'none', args: ['a'], env: { A: 'b' }, tools: ['look'], callTimeout: 10 };

const webEffects = { resolve: async () => [], isPublic: () => false, request: async () => Promise.reject() };

const samples: Readonly<Record<string, () => readonly unknown[]>> = {
  'new Workspace': () => [folder, { anchor: 'path', env: {} }],
  'new Workspace().write': () => ['a', 'text', {}],
  'new BackgroundCommands': () => [{ maxRunning: 2, maxMs: 1000, maxOutputBytes: 100 }],
  'new BackgroundCommands().forget': () => ['s'],
  'new BackgroundCommands().list': () => ['s'],
  'new BackgroundCommands().move': () => ['s', 't'],
  'new BackgroundCommands().start': () => [
    's',
    { command: 'a', untrusted: false, run: async () => 'exit 0' },
  ],
  'new BackgroundCommands().watch': () => [() => {}],
  backgroundTool: () => [new BackgroundCommands()],
  editFile: () => [workspace],
  listFiles: () => [workspace],
  readFile: () => [workspace],
  runCommand: () => [workspace, command()],
  searchFiles: () => [workspace, { fileTimeoutMs: 10, searchTimeoutMs: 10, runtime: fakeRuntime() }],
  workspaceTools: () => [{ root: folder, ...command() }],
  writeFile: () => [workspace],
  connectMcp: () => [
    {
      ...{
        servers: { fake: server, off: { url: 'http://127.0.0.1:9', disabled: true } },
        env: {},
        cwd: folder,
      },
      ...{ onChange: () => {}, client: { name: 'test', version: '1' } },
    },
  ],
  mcpToolName: () => ['server', 'tool'],
  printCommandLine: () => [{ steps: [{ argv: ['a'], redirects: [] }], operators: [] }],
  readCommandLine: () => ['a b'],
  planTool: () => [() => {}],
  readTodos: () => ['[x] one'],
  todoLines: () => [[{ text: 'one', status: 'done' }]],
  todosTool: () => [],
  waitTool: () => [{ maxMs: 1_000 }],
  webFetchTool: () => [{ allowHosts: ['example.com'], mayFollow: () => false, ...webEffects }],
};

const tools: Readonly<Record<string, Tool>> = {
  'editFile()': editFile(workspace),
  'listFiles()': listFiles(workspace),
  'readFile()': readFile(workspace),
  'runCommand()': runCommand(workspace, { sandbox: 'off' }),
  'searchFiles()': searchFiles(workspace),
  'workspaceTools()[0]': readFile(workspace),
  'writeFile()': writeFile(workspace),
  'waitTool()': waitTool(),
  'backgroundTool()': backgroundTool(new BackgroundCommands()),
  'planTool()': planTool(() => {}),
  'todosTool()': todosTool(),
  'webFetchTool()': webFetchTool(),
};

const called = 'the loop calls the functions of a tool, with arguments that it has validated';

const unstarted = 'throws without a command that was started';

const exceptions: Readonly<Record<string, string>> = {
  'new BackgroundCommands().get': unstarted,
  'new BackgroundCommands().stop': unstarted,
  'new BackgroundCommands().wait': unstarted,
  ...Object.fromEntries(
    Object.entries(tools).flatMap(([name, tool]) =>
      Object.entries(tool).flatMap(([field, value]) =>
        typeof value === 'function' ? [[`${name}.${field}`, called]] : [],
      ),
    ),
  ),
};

export const sampleTable: {
  readonly samples: typeof samples;
  readonly exceptions: typeof exceptions;
  readonly folder: string;
} = { samples, exceptions, folder };

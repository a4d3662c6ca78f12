import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Tool, ToolContext, ToolOutput, ToolResultPart } from '@cobbler/agent';
import { Budget } from '@cobbler/agent';
import { onTestFinished } from 'vitest';
import type { ListChange, Mcp, McpOptions, McpServerConfig } from '../../src/mcp/index.ts';
import { connectMcp } from '../../src/mcp/index.ts';

const fakeServer = fileURLToPath(new URL('fake-server.ts', import.meta.url));

/** Creates a directory that is deleted after the test. */
export function folder(): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'cobbler-mcp-')));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** The result of a call. */
export interface Called {
  readonly text: string;
  readonly parts: readonly ToolResultPart[];
  readonly isError: boolean;
}

export interface Stage {
  readonly mcp: Mcp;
  readonly changes: readonly ListChange[];
  /** Returns the lines that the fake server has logged. */
  notes(): string[];
  tool(name: string): Tool;
  call(name: string, args?: Record<string, unknown>, more?: Partial<ToolContext>): Promise<Called>;
}

/** Returns the configuration of a fake server that misbehaves in these ways. */
export function fakeConfig(ways: string, log = '/dev/null'): McpServerConfig & { readonly command: string } {
  return { command: process.execPath, args: [fakeServer, ways, log] };
}

/** Connects to the fake server under the name `fake`, and closes it after the test. */
export async function stage(
  ways: string,
  limits: Partial<McpServerConfig> = {},
  options: Partial<McpOptions> = {},
): Promise<Stage> {
  const log = join(folder(), 'log');
  writeFileSync(log, '');
  const config = { ...fakeConfig(ways, log), ...limits };
  const notes = () => readFileSync(log, 'utf8').trim().split('\n');
  return { ...(await staged({ fake: config as McpServerConfig }, options)), notes };
}

/** Connects to these servers. A call finds its tool by the end of its name. */
export async function staged(
  servers: Readonly<Record<string, McpServerConfig>>,
  options: Partial<McpOptions> = {},
): Promise<Omit<Stage, 'notes'>> {
  const changes: ListChange[] = [];
  const mcp = await connectMcp({ servers, onChange: (change) => changes.push(change), ...options });
  onTestFinished(() => mcp.close());
  const tool = (name: string): Tool => {
    const found = mcp.tools.find((one) => one.name.endsWith(`__${name}`));
    if (found === undefined) throw new Error(`Unknown tool: ${name}`);
    return found;
  };
  const call: Stage['call'] = async (name, args = {}, more = {}) => {
    const context: ToolContext = {
      signal: new AbortController().signal,
      callId: 'c',
      idempotencyKey: 'k',
      budget: new Budget(),
      progress: () => undefined,
      ...more,
    };
    const { content, isError = false } = (await tool(name).execute(args, context)) as ToolOutput;
    const parts = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content;
    return { parts, isError, text: parts.map((part) => (part.type === 'text' ? part.text : '')).join('\n') };
  };
  return { mcp, changes, tool, call };
}

/** Returns the path of the program in a package that is installed for these tests. */
export function programOf(name: string): string {
  return join(
    dirname(dirname(dirname(fileURLToPath(import.meta.url)))),
    'node_modules',
    name,
    'dist',
    'index.js',
  );
}

/** True if a process is running. A zombie, which has ended but is not reaped, is not. */
export function isRunning(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return !stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z');
  } catch {
    return false;
  }
}

import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { loadConfig } from '@cobbler/agent/node';
import type { Sandbox, SandboxOptions, SandboxStatus } from '@cobbler/agent/sandbox';
import { bwrapSandbox, noRestrictions, probeSandbox } from '@cobbler/agent/sandbox';
import { agentFiles } from '@cobbler/tools';
import type { McpOptions } from '@cobbler/tools/mcp';
import { homeToKeep } from '../session/session-home.ts';
import type { Environment, Io } from '../terminal/io.ts';
import { UsageError } from '../terminal/usage-error.ts';

/** What programs can do: see docs/sandbox.md. `external`: this machine is already a sandbox. */
export const sandboxModes = ['workspace', 'strict', 'off', 'external'] as const;

export type SandboxMode = (typeof sandboxModes)[number];

/** Reads the name of a sandbox. @throws UsageError for an unknown name. */
export function readSandboxMode(value: unknown, source: string): SandboxMode | undefined {
  if (value === false) return 'off';
  const found = sandboxModes.find((mode) => mode === value);
  if (found !== undefined || value === undefined || value === '') return found;
  throw new UsageError(`${source} cannot be ${JSON.stringify(value)}.`, `Use ${sandboxModes.join(', ')}.`);
}

/** The options that choose a sandbox. */
export interface SandboxFlags {
  readonly sandbox?: SandboxMode;
  readonly allowHost?: readonly string[];
  /** Names of tools, if not all. */
  readonly tools?: readonly string[];
}

/** The output that has shown that there is no sandbox. */
const told: WeakSet<Io['stderr']> = new WeakSet();

/**
 * Returns the sandbox for the commands of a directory. Where none works, says so once; the tools then ask about every
 * command.
 * @throws UsageError if the command line demands a sandbox and none works here.
 */
export async function sandboxIn(
  folder: string,
  flags: SandboxFlags,
  io: Pick<Io, 'env' | 'stderr'>,
): Promise<Sandbox> {
  const mode = flags.sandbox ?? modeIn(io.env);
  const isOpen = mode === 'off' || mode === 'external';
  if (isOpen) return noRestrictions(mode);
  if (flags.tools !== undefined && !flags.tools.includes('run_command')) return noRestrictions('off');
  const status = await probeSandbox(io.env);
  if (status.works) {
    const hosts = await allowedHosts(flags, io.env);
    const network = hosts.length > 0 ? { network: { hosts } } : {};
    return confined(folder, { mode, ...network }, status.program, io.env);
  }
  if (flags.sandbox !== undefined) throw demanded(status);
  tellOnce(io, missingLine(status));
  const why = `Commands run here with all your permissions, because there is no sandbox (${status.reason}). To get one: ${status.cure}`;
  return noRestrictions('off', why);
}

/** Returns the hosts that the user allows, for commands in the sandbox and for web pages. */
export async function allowedHosts({ allowHost = [] }: SandboxFlags, env: Environment): Promise<string[]> {
  // The user's configuration, not the project's, whose author is unknown.
  const { allowHosts = [] } = (await loadConfig({ env })).values;
  return [...new Set([...allowHosts, ...allowHost])];
}

/** Returns the sandbox for the commands of the demo, which are its own, and one line if there is none. */
export async function demoSandbox(
  folder: string,
  env: Environment,
): Promise<{ sandbox: Sandbox; lines: string[] }> {
  const mode = modeIn(env);
  if (mode === 'off' || mode === 'external') return { sandbox: noRestrictions(mode), lines: [] };
  const status = await probeSandbox(env);
  if (status.works) return { sandbox: confined(folder, { mode }, status.program, env), lines: [] };
  const line = `Commands run without a sandbox, because ${status.reason}. To get one: ${status.cure}`;
  return { sandbox: noRestrictions('off'), lines: [line] };
}

/**
 * Returns the sandboxes of MCP servers: with a network and with the files that their commands name, but without rights
 * to write in the workspace, unless the setting of a server says otherwise. Undefined if there is none.
 */
export async function serverSandboxes(
  folder: string,
  flags: SandboxFlags,
  { env }: Pick<Io, 'env'>,
): Promise<McpOptions['sandbox']> {
  const mode = flags.sandbox ?? modeIn(env);
  if (mode === 'off' || mode === 'external') return undefined;
  const status = await probeSandbox(env);
  if (!status.works) return undefined;
  return ({ argv, cwd }, wanted) => {
    if (wanted === 'off') return undefined;
    const options = { mode: wanted, network: true, read: filesOf(argv, cwd) };
    return confined(folder, options, status.program, env);
  };
}

/**
 * Returns the sandbox of a delegated program; undefined for the one that fits its permission. Where none works, says so
 * once.
 * @throws UsageError if the command line demands a sandbox and none works here.
 */
export async function backendSandbox(
  name: string,
  flags: SandboxFlags,
  io: Pick<Io, 'env' | 'stderr'>,
): Promise<SandboxMode | undefined> {
  const mode = flags.sandbox ?? readSandboxMode(io.env['COBBLER_SANDBOX'], 'COBBLER_SANDBOX');
  if (mode === 'off' || mode === 'external') return mode;
  const status = await probeSandbox(io.env);
  if (status.works) return mode;
  if (flags.sandbox !== undefined) throw demanded(status);
  tellOnce(
    io,
    `There is no sandbox: ${status.reason}. ${name} runs with all your permissions. To get a sandbox: ${status.cure}`,
  );
  return 'off';
}

/** Returns the files that a command names, each with the project that contains it. */
function filesOf(argv: readonly string[], cwd: string): string[] {
  const paths = argv.filter((word) => word.includes('/')).map((word) => resolve(cwd, word));
  return paths.filter((path) => existsSync(path)).map(projectOf);
}

function projectOf(path: string): string {
  const above = [path, dirname(path), dirname(dirname(path)), dirname(dirname(dirname(path)))];
  const isProject = (one: string) =>
    ['package.json', 'pyproject.toml'].some((name) => existsSync(join(one, name)));
  return above.find(isProject) ?? path;
}

function modeIn(env: Environment): SandboxMode {
  return readSandboxMode(env['COBBLER_SANDBOX'], 'COBBLER_SANDBOX') ?? 'workspace';
}

type Missing = Extract<SandboxStatus, { readonly works: false }>;

function demanded({ reason, cure }: Missing): UsageError {
  return UsageError.withCode('no_sandbox', `There is no sandbox: ${reason}.`, `To get one: ${cure}`);
}

function tellOnce({ stderr }: Pick<Io, 'stderr'>, line: string): void {
  if (!told.has(stderr)) stderr.write(`cobbler: ${line}\n`);
  told.add(stderr);
}

function missingLine({ reason, cure }: Missing): string {
  return `There is no sandbox: ${reason}. Every command needs your approval. To get a sandbox: ${cure}. To run commands with all your permissions: --no-sandbox`;
}

/** Programs of one directory share a home directory, so that their caches last. */
function confined(
  folder: string,
  options: Omit<SandboxOptions, 'workspace' | 'env'>,
  program: string,
  env: Environment,
): Sandbox {
  const kept = homeToKeep(env);
  const name = createHash('sha256').update(folder).digest('hex').slice(0, 16);
  const home = kept === undefined ? {} : { home: join(kept, 'sandbox', name) };
  return bwrapSandbox({ workspace: folder, env, guarded: agentFiles, ...options, ...home }, program);
}

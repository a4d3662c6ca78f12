import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Sandbox, SandboxOptions, SandboxStatus } from '@cobbler/agent/sandbox';
import { bwrapSandbox, noRestrictions, probeSandbox } from '@cobbler/agent/sandbox';
import { homeToKeep } from '../session/session-home.ts';
import type { Environment, Io } from '../terminal/io.ts';
import { UsageError } from '../terminal/usage-error.ts';
import type { RunFlags } from './run-flags.ts';

/** What programs can do: see docs/sandbox.md. `external`: this machine is a sandbox already. */
export const sandboxModes = ['workspace', 'strict', 'off', 'external'] as const;

export type SandboxMode = (typeof sandboxModes)[number];

/**
 * Reads the name of a sandbox.
 * @throws UsageError for an unknown name.
 */
export function readSandboxMode(value: unknown, source: string): SandboxMode | undefined {
  if (value === false) return 'off';
  const found = sandboxModes.find((mode) => mode === value);
  if (found !== undefined || value === undefined || value === '') return found;
  throw new UsageError(`${source} cannot be ${JSON.stringify(value)}.`, `Use ${sandboxModes.join(', ')}.`);
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
  flags: Pick<RunFlags, 'sandbox' | 'tools'>,
  io: Pick<Io, 'env' | 'stderr'>,
): Promise<Sandbox> {
  const mode = flags.sandbox ?? readSandboxMode(io.env['COBBLER_SANDBOX'], 'COBBLER_SANDBOX') ?? 'workspace';
  if (mode === 'off' || mode === 'external') return noRestrictions(mode);
  if (flags.tools !== undefined && !flags.tools.includes('run_command')) return noRestrictions('off');
  const status = await probeSandbox(io.env);
  if (status.works) return confined(folder, { mode }, status.program, io.env);
  if (flags.sandbox !== undefined)
    throw UsageError.withCode('no_sandbox', `There is no sandbox: ${status.reason}.`, `To get one: ${status.cure}`);
  if (!told.has(io.stderr)) io.stderr.write(`cobbler: ${missingLine(status)}\n`);
  told.add(io.stderr);
  const why = `Commands have all your rights here: there is no sandbox (${status.reason}). To get one: ${status.cure}`;
  return noRestrictions('off', why);
}

/** Returns the sandbox for the commands of the demo, which are its own, and one line if there is none. */
export async function demoSandbox(folder: string, env: Environment): Promise<{ sandbox: Sandbox; lines: string[] }> {
  const mode = readSandboxMode(env['COBBLER_SANDBOX'], 'COBBLER_SANDBOX') ?? 'workspace';
  if (mode === 'off' || mode === 'external') return { sandbox: noRestrictions(mode), lines: [] };
  const status = await probeSandbox(env);
  if (status.works) return { sandbox: confined(folder, { mode }, status.program, env), lines: [] };
  const line = `Its commands run without a sandbox, because ${status.reason}. To get one: ${status.cure}`;
  return { sandbox: noRestrictions('off'), lines: [line] };
}

type Missing = Extract<SandboxStatus, { readonly works: false }>;

function missingLine({ reason, cure }: Missing): string {
  return `There is no sandbox: ${reason}. Every command needs your approval. To get one: ${cure}. To run commands with all your rights: --no-sandbox`;
}

/** Programs of one directory share a home directory, so that their caches last. */
function confined(
  folder: string,
  options: Pick<SandboxOptions, 'mode'>,
  program: string,
  env: Environment,
): Sandbox {
  const kept = homeToKeep(env);
  const name = createHash('sha256').update(folder).digest('hex').slice(0, 16);
  const home = kept === undefined ? {} : { home: join(kept, 'sandbox', name) };
  return bwrapSandbox({ workspace: folder, env, ...options, ...home }, program);
}

// The settings of a run that a replay takes from its recording.

import type { Tool } from '@cobbler/agent';
import { AgentError, Budget } from '@cobbler/agent';
import type { Sandbox } from '@cobbler/agent/sandbox';
import { bwrapSandbox, noRestrictions } from '@cobbler/agent/sandbox';
import type { RunFlags } from '../config/run-flags.ts';
import { allowedHosts, sandboxIn } from '../config/sandbox.ts';
import type { Audit } from '../session/audit.ts';
import type { Io } from '../terminal/io.ts';
import type { Budgets } from './budgets/budgets.ts';
import type { RecordReplay } from './record-replay.ts';

/** Returns the budget of a run. A replay has a large one: a budget sets the maximum length of responses in requests. */
export async function runBudget(
  budgets: Budgets,
  folder: string,
  { isReplay, fact }: RecordReplay,
): Promise<Budget | undefined> {
  const budget = isReplay ? undefined : await budgets.budgetIn(folder);
  const limits = fact('budget', () => budget && { tokens: 1e15, ...(budget.limitsMoney && { usd: 1e9 }) });
  return isReplay && limits ? new Budget(limits) : budget;
}

/** Returns the tools of this machine. In a replay, these are the recorded ones, which cannot run. */
export function recordedTools(
  name: string,
  live: readonly Tool[],
  recordReplay: RecordReplay,
): readonly Tool[] {
  const faces = recordReplay.fact(name, () => live.map(({ execute: _, ...face }) => face));
  const execute = () => {
    const message = 'MCP servers and skills are not used in a replay.';
    throw new AgentError({ kind: 'tool', code: 'not_on_replay', message });
  };
  return recordReplay.isReplay ? faces.map((face) => ({ ...face, execute })) : live;
}

interface SandboxedRun {
  readonly flags: RunFlags;
  readonly recordReplay: RecordReplay;
  readonly audit: Audit;
}

/** Returns the sandbox of a run. A replay runs no commands, but its tools must look the same as in the recorded run. */
export async function runSandbox(
  { flags, recordReplay, audit }: SandboxedRun,
  folder: string,
  io: Io,
): Promise<Sandbox> {
  const sandbox = recordReplay.isReplay ? noRestrictions('off') : await sandboxIn(folder, flags, io);
  audit.note({ kind: 'sandbox', sandbox: sandbox.kind });
  const kind = recordReplay.fact('sandbox', () => sandbox.kind);
  const hosts = recordReplay.fact('hosts', () => sandbox.hosts);
  if (kind === sandbox.kind) return sandbox;
  return bwrapSandbox({ workspace: folder, ...(hosts && { network: { hosts } }) }, kind);
}

/** Returns the hosts that the user allows; in a replay, those of the recording. */
export async function runHosts(
  { flags, recordReplay }: Pick<SandboxedRun, 'flags' | 'recordReplay'>,
  { env }: Pick<Io, 'env'>,
): Promise<readonly string[]> {
  const hosts = recordReplay.isReplay ? [] : await allowedHosts(flags, env);
  return recordReplay.fact('web', () => hosts);
}

/** The tools of every cassette. */
const firstTools = ['read_file', 'write_file', 'edit_file', 'list_files', 'search_files', 'run_command'];

/** Returns the tools of a run; those of the recording in a replay, whose requests must be the same. */
export function listedTools(all: readonly Tool[], { isReplay, fact }: RecordReplay): readonly Tool[] {
  const waits = fact('waits', () => !isReplay);
  // Older cassettes do not list their tools.
  const unlisted = [...firstTools, ...(waits ? ['wait_until'] : [])];
  const names = fact('tools', () => (isReplay ? unlisted : all.map(({ name }) => name)));
  return all.filter(({ name }) => names.includes(name));
}

import type { Audit } from '../session/audit.ts';
// The settings of a run that a replay takes from its recording.

import type { Tool } from '@cobbler/agent';
import { Budget } from '@cobbler/agent';
import type { Sandbox } from '@cobbler/agent/sandbox';
import { bwrapSandbox, noRestrictions } from '@cobbler/agent/sandbox';
import type { RunFlags } from '../config/run-flags.ts';
import { allowedHosts, sandboxIn } from '../config/sandbox.ts';
import { webTool } from '../permissions/web-rule.ts';
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
  const isNeeded = !recordReplay.isReplay && flags.backend === undefined;
  const sandbox = isNeeded ? await sandboxIn(folder, flags, io) : noRestrictions('off');
  // A backend has noted its own.
  if (flags.backend === undefined) audit.note({ kind: 'sandbox', sandbox: sandbox.kind });
  const kind = recordReplay.fact('sandbox', () => sandbox.kind);
  const hosts = recordReplay.fact('hosts', () => sandbox.hosts);
  if (kind === sandbox.kind) return sandbox;
  return bwrapSandbox({ workspace: folder, ...(hosts && { network: { hosts } }) }, kind);
}

/** Returns the hosts that the user allows; undefined for an older cassette, whose requests lack web_fetch. */
export async function runHosts(
  { flags, recordReplay }: Pick<SandboxedRun, 'flags' | 'recordReplay'>,
  { env }: Pick<Io, 'env'>,
): Promise<readonly string[] | undefined> {
  const hosts = recordReplay.isReplay ? undefined : await allowedHosts(flags, env);
  return recordReplay.fact('web', () => hosts);
}

/** Returns the tools that the recorded requests contain: older cassettes lack the tool that waits, and web_fetch. */
export function recordedTools(
  tools: readonly Tool[],
  hosts: readonly string[] | undefined,
  { isReplay, fact }: RecordReplay,
): Tool[] {
  const canWait = fact('waits', () => !isReplay);
  return tools.filter(
    ({ name, waitUntil }) =>
      (canWait || waitUntil === undefined) && (hosts !== undefined || name !== webTool),
  );
}

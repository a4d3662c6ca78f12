import { join } from 'node:path';
import type { Environment, Limits, Pricing } from '@cobbler/agent';
import { recordProcesses } from '@cobbler/agent/node';
import { defined } from '@cobbler/agent/values';
import type { DelegatedLoop } from '@cobbler/delegate';
import type { PermissionMode } from '../permissions/permission.ts';
import { homeToKeep } from '../session/session-home.ts';
import { oneOf, optionValue } from '../terminal/option-value.ts';
import { UsageError } from '../terminal/usage-error.ts';
import type { SandboxMode } from './sandbox.ts';

/** Programs that can do the work instead of a model. */
export const backendNames = ['claude-code', 'codex'] as const;

export type BackendName = (typeof backendNames)[number];

/** Reads the name of a backend. @throws UsageError for an unknown name. */
export function readBackend(value: string | undefined): BackendName | undefined {
  const advice = `Use --backend ${backendNames.join(' or --backend ')}.`;
  return optionValue(value, '--backend', oneOf(backendNames), advice, backendNames);
}

/** Records child processes from now on, and ends those that a killed Cobbler left running. */
export async function recordChildren(env: Environment): Promise<void> {
  const home = homeToKeep(env);
  if (home !== undefined) await recordProcesses(join(home, 'processes'));
}

/** The options of a backend. */
export interface BackendOrder {
  readonly name: BackendName;
  readonly folder: string;
  readonly mode: PermissionMode;
  /** The model as the user named it; if absent, the program chooses. */
  readonly model?: string;
  readonly limits: Limits;
  /** Tools that can send data, and whose output is trusted. */
  readonly trusted: readonly string[];
  readonly pricing: Pricing;
  readonly env: Environment;
  /** The sandbox of the program. Default: the one that fits its permission. */
  readonly sandbox?: SandboxMode;
}

/**
 * Creates a backend as the parts of a run. On its own it can only read: in every mode except read-only, our
 * permissions check each of its calls.
 * @throws UsageError if the program is not installed.
 */
export async function delegateTo(order: BackendOrder): Promise<DelegatedLoop> {
  const { name, folder, mode, model, limits, trusted, pricing, env, sandbox } = order;
  const { claudeCode, codex, delegatedLoop } = await import('@cobbler/delegate');
  const permission = mode === 'read-only' ? 'read-only' : 'gate';
  const options = {
    permission,
    env,
    ...defined({ model, timeoutMs: limits.ms, sandbox }),
  } as const;
  const backend = name === 'claude-code' ? claudeCode(options) : codex(options);
  const problem = backend.problem();
  if (problem !== undefined)
    throw new UsageError(`${problem.message}.`, 'Install it, or check the setup: cobbler doctor');
  return delegatedLoop({ backend, workingDir: folder, limits, trusted, pricing });
}

import type { ExecutorOptions, Gate } from '@cobbler/agent';
import type { PricedAgent } from '../config/priced-agent.ts';
import type { SandboxMode } from '../config/sandbox.ts';
import type { PermissionMode } from '../permissions/permission.ts';
import type { Audit } from '../session/audit.ts';
import type { Environment } from '../terminal/io.ts';
import type { SubAgent } from './definitions.ts';

/** Programs that can do a task, and the names of their backends. */
export const programs = { claude: 'claude-code', codex: 'codex' } as const;

export type ProgramName = keyof typeof programs;

/** What the agents need to work. Functions are called with a task, not before. */
export interface AgentPlan
  extends Required<Pick<ExecutorOptions, 'limits' | 'allowUnpriced'>>,
    Pick<ExecutorOptions, 'context'> {
  readonly definitions: readonly SubAgent[];
  readonly programs: readonly ProgramName[];
  readonly folder: string;
  readonly env: Environment;
  /** The instructions of the run: a sub-agent has its own instead of the first. */
  readonly system: () => readonly string[];
  /** Returns the model with this name, or without a name, that of the session. */
  readonly model: (
    name: string | undefined,
    session: string,
  ) => Promise<Pick<PricedAgent, 'agent' | 'pricing'>>;
  readonly permission: () => { readonly gate: Gate; readonly mode: PermissionMode };
  /** Returns the sandbox of a program. */
  readonly sandboxOf: (program: string) => Promise<SandboxMode | undefined>;
  readonly audit: Audit;
  /** False if users cannot decide while a call runs: calls that need a decision are then denied. */
  readonly asks: boolean;
}

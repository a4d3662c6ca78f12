import type { Harness } from '@cobbler/agent';
import { systemRuntime } from '@cobbler/agent';
import type { DelegatedHarnessOptions } from '../harness/delegated-harness.ts';
import { delegatedHarness } from '../harness/delegated-harness.ts';
import { AgentBackend } from './agent-backend.ts';
import type { SessionAgent } from './session-agent.ts';

/** Engine options. All are optional. */
export interface EngineOptions extends Omit<DelegatedHarnessOptions, 'backend' | 'workingDir'> {
  /** Default: the folder of this process. */
  readonly workingDir?: string;
  /** Such as `plan`. */
  readonly mode?: string;
  /** The name of the agent in events. Default `agent`. */
  readonly name?: string;
}

/**
 * A conversation over any session agent: gate, events, limits and store as with the local loop. The agent is passed
 * directly, without registration. Closing the engine ends its conversation; the caller still owns the agent.
 */
export function buildEngine(agent: SessionAgent, options: EngineOptions = {}): Harness {
  const { workingDir = process.cwd(), mode, name = 'agent', ...rest } = options;
  const sessionId = options.sessionId ?? (options.runtime ?? systemRuntime).id();
  const backend = new AgentBackend(agent, { name, sessionId, mode });
  return delegatedHarness({ ...rest, sessionId, backend, workingDir });
}

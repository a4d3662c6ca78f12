import { systemRuntime } from '@cobbler/agent';
import type { Harness } from '@cobbler/agent/harness';
import type { DelegatedHarnessOptions } from '../harness/delegated-harness.ts';
import { delegatedHarness } from '../harness/delegated-harness.ts';
import type { SessionAgent } from './session-agent.ts';
import { SessionAgentBackend } from './session-agent-backend.ts';

/** Options of {@link buildEngine}. All are optional. */
export interface EngineOptions extends Omit<DelegatedHarnessOptions, 'backend' | 'workingDir'> {
  /** The working directory. Default: that of this process. */
  readonly workingDir?: string;
  /** The mode, such as `plan`. */
  readonly mode?: string;
  /** The name of the agent in events. Default `agent`. */
  readonly name?: string;
}

/**
 * Creates a conversation with any session agent: gate, events, limits and store work as with the local loop. Closing
 * the engine ends its conversation, but not the agent, which the caller owns.
 */
export function buildEngine(agent: SessionAgent, options: EngineOptions = {}): Harness {
  const { workingDir = process.cwd(), mode, name = 'agent', ...rest } = options;
  const sessionId = options.sessionId ?? (options.runtime ?? systemRuntime).id();
  const backend = new SessionAgentBackend(agent, { name, sessionId, mode });
  return delegatedHarness({ ...rest, sessionId, backend, workingDir });
}

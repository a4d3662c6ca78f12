import { systemRuntime } from '@cobbler/agent';
import type { Harness } from '@cobbler/agent/harness';
import { read, record, text, withMethods } from '@cobbler/agent/input';
import type { DelegatedHarnessOptions } from '../harness/delegated-harness.ts';
import { delegatedHarness, delegatedReaders } from '../harness/delegated-harness.ts';
import type { SessionAgent } from './session-agent.ts';
import { readSessionAgent } from './session-agent.ts';
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

const { backend: _, ...engineReaders } = delegatedReaders;

const readOptions = record<EngineOptions>({
  ...engineReaders,
  sessionId: text,
  runtime: withMethods('id'),
  mode: text,
  name: text,
});

/**
 * Creates a conversation with any session agent: gate, events, limits and store work as with the local loop. Closing
 * the engine ends its conversation, but not the agent, which the caller owns.
 * @throws AgentError `invalid` for an invalid agent or option.
 */
export function buildEngine(agent: SessionAgent, options: EngineOptions = {}): Harness {
  const given = read(options, readOptions);
  const { workingDir = process.cwd(), mode, name = 'agent', ...rest } = given;
  const sessionId = given.sessionId ?? (given.runtime ?? systemRuntime).id();
  const backend = new SessionAgentBackend(read(agent, readSessionAgent, 'agent'), { name, sessionId, mode });
  return delegatedHarness({ ...rest, sessionId, backend, workingDir });
}

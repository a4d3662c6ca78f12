import type { Gate, Run } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';
import type { Harness, HarnessOptions } from '@cobbler/agent/harness';
import { createHarness } from '@cobbler/agent/harness';
import type { Readers } from '@cobbler/agent/input';
import { any, callable, read, record } from '@cobbler/agent/input';
import { defined } from '@cobbler/agent/values';
import type { Backend } from '../backend/backend.ts';
import type { DelegatedLoop, DelegatedLoopOptions } from './delegated-loop.ts';
import { delegatedLoop, loopReaders } from './delegated-loop.ts';

/** Options of a conversation with a program instead of a model. */
export interface DelegatedHarnessOptions
  extends Pick<
      HarnessOptions,
      | 'handler'
      | 'report'
      | 'store'
      | 'sessionId'
      | 'limits'
      | 'attended'
      | 'approvalMs'
      | 'whenBusy'
      | 'runtime'
      | 'storeTimeoutMs'
      | 'system'
    >,
    Pick<DelegatedLoopOptions, 'backend' | 'workingDir' | 'tools' | 'pricing'> {
  /** Decides on each call. Only for a backend that asks about calls. */
  readonly gate?: Gate;
}

/** The readers of {@link DelegatedHarnessOptions}. The harness inside reads the options that it is given. */
export const delegatedReaders: Readers<DelegatedHarnessOptions> = {
  ...loopReaders,
  gate: callable,
  handler: any,
  report: any,
  store: any,
  sessionId: any,
  attended: any,
  approvalMs: any,
  whenBusy: any,
  runtime: any,
  storeTimeoutMs: any,
  system: any,
};

const readOptions = record<DelegatedHarnessOptions>(delegatedReaders, ['backend', 'workingDir']);

/**
 * Creates a conversation with Claude Code or Codex. It has the same events, limits, store and outcomes as the local
 * loop, because it is the local loop with an agent that relays the program's output. The conversation continues after
 * a restart, using the id in the log. The cost of an interrupted run is reported with the next one.
 * @throws AgentError `invalid` for an invalid option, or for a gate with a backend that never asks.
 */
export function delegatedHarness(options: DelegatedHarnessOptions): Harness {
  const { backend, workingDir, gate, limits, pricing, tools, ...rest } = read(options, readOptions);
  if (gate !== undefined && !backend.capabilities.gate) {
    const message = `${backend.name} never asks for approval. Create it with permission "gate".`;
    throw new AgentError({ kind: 'invalid', code: 'no_gate', message });
  }
  const loop = delegatedLoop({
    backend,
    workingDir,
    ...defined({ limits, tools, pricing }),
  });
  const inner = createHarness({
    ...rest,
    agent: loop.agent,
    tools: loop.tools,
    toolErrors: 'continue',
    toolScheduling: 'sequential',
    ...defined({ gate, limits }),
    pricing: loop.pricing,
    allowUnpriced: backend.tellsCost,
  });
  return overLoop(inner, loop, backend);
}

function overLoop(inner: Harness, loop: DelegatedLoop, backend: Backend): Harness {
  const leaveAfterRun = (run: Run): Run => {
    run.subscribe((event) => {
      if (event.type === 'finished') loop.leave();
    });
    return run;
  };
  return {
    sessionId: inner.sessionId,
    capabilities: backend.capabilities,
    prompt: (content, options) => leaveAfterRun(inner.prompt(content, options)),
    resume: (options) => leaveAfterRun(inner.resume(options)),
    steer: (content) => backend.capabilities.steer && inner.steer(content),
    cancel: () => inner.cancel(),
    fork: () => Promise.reject(noFork(backend)),
    close: async () => {
      await inner.close();
      await loop.close();
    },
  };
}

/**
 * Returns the error for a fork: if two conversations continued the same one of the program, each would miss messages
 * of the other.
 */
function noFork(backend: Backend): AgentError {
  const message = `A conversation with ${backend.name} cannot be forked.`;
  return new AgentError({ kind: 'invalid', code: 'no_fork', message });
}

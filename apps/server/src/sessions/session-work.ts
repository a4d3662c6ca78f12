import type { SessionStore } from '@cobbler/agent';
import { Executor } from '@cobbler/agent';
import type { HarnessOptions } from '@cobbler/agent/harness';
import type { Workflow } from '@cobbler/agent/runner';
import { sessionWorkflow } from '@cobbler/agent/runner';

/** The settings of a session: model, tools, permissions, limits. Never taken from a request. */
export type SessionSettings = Omit<HarnessOptions, 'store' | 'sessionId' | 'handler' | 'report' | 'whenBusy'>;

/**
 * Creates the executor of a session with the rules of a harness: tools run one after another, and the first failure
 * stops its batch.
 */
export function sessionExecutor(settings: SessionSettings, store: SessionStore): Executor {
  return new Executor({
    ...settings,
    store,
    toolErrors: settings.toolErrors ?? 'stop-batch',
    toolScheduling: settings.toolScheduling ?? 'sequential',
  });
}

/** Returns the workflow of a runner to which servers delegate their runs: it uses the same store and settings. */
export function sessionWork(store: SessionStore, settings: (sessionId: string) => SessionSettings): Workflow {
  return sessionWorkflow({ store, executor: (sessionId) => sessionExecutor(settings(sessionId), store) });
}

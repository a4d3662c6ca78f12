import type { HarnessOptions, SessionStore } from '@cobbler/agent';
import { Executor } from '@cobbler/agent';
import type { Routine } from '@cobbler/agent/runner';
import { sessionRoutine } from '@cobbler/agent/runner';

/** The settings of a session: model, tools, permissions, limits. Never taken from a request. */
export type SessionSettings = Omit<HarnessOptions, 'store' | 'sessionId' | 'handler' | 'report' | 'whenBusy'>;

/** The executor of a session, with the ways of a harness: tools one after another, the first that fails stops its batch. */
export function sessionExecutor(settings: SessionSettings, store: SessionStore): Executor {
  return new Executor({
    ...settings,
    store,
    toolErrors: settings.toolErrors ?? 'stop-batch',
    toolScheduling: settings.toolScheduling ?? 'sequential',
  });
}

/** The work of a runner to which servers hand their runs: it uses the same store and settings. */
export function sessionWork(store: SessionStore, settings: (sessionId: string) => SessionSettings): Routine {
  return sessionRoutine({ store, executor: (sessionId) => sessionExecutor(settings(sessionId), store) });
}

import type { Run, SessionStore } from '@cobbler/agent';
import { Executor } from '@cobbler/agent';
import type { Harness, HarnessOptions } from '@cobbler/agent/harness';
import type { Reader } from '@cobbler/agent/input';
import { callable, read, when, withMethods } from '@cobbler/agent/input';
import { isObject } from '@cobbler/agent/provider';
import type { Workflow } from '@cobbler/agent/runner';
import { sessionWorkflow } from '@cobbler/agent/runner';
import { defined } from '@cobbler/agent/values';

/** The settings of a session: model, tools, permissions, limits. Never taken from a request. */
export type SessionSettings = Omit<HarnessOptions, 'store' | 'sessionId' | 'handler' | 'report' | 'whenBusy'>;

/** A conversation; if its runs may execute elsewhere, it can follow runs that it did not start. */
export type JoinableHarness = Harness & { join?(): Promise<{ readonly run: Run } | undefined> };

/** A conversation and the user of its settings. */
export interface OpenSession {
  readonly harness: JoinableHarness;
  readonly user: string | undefined;
}

/** Reads a store. */
export const readStore: Reader<SessionStore> = withMethods('claim', 'append', 'read', 'list', 'info');

const isSettings = when<SessionSettings>(isObject, 'an object');

/** Reads the settings of a session. The executor reads those that it is given. */
const readSettings: Reader<SessionSettings> = (value) => {
  const given = isSettings(value);
  return defined({ ...given });
};

/**
 * Creates the executor of a session with the rules of a harness: tools run one after another, and the first failure
 * stops its batch.
 * @throws AgentError `invalid` for an invalid setting.
 */
export function sessionExecutor(settings: SessionSettings, store: SessionStore): Executor {
  return new Executor({
    toolErrors: 'stop-batch',
    toolScheduling: 'sequential',
    ...read(settings, readSettings, 'settings'),
    store: read(store, readStore, 'store'),
  });
}

/**
 * Returns the workflow of a runner to which servers delegate their runs: it uses the same store and settings.
 * @throws AgentError `invalid` for an invalid store, or settings that are not a function.
 */
export function sessionWork(store: SessionStore, settings: (sessionId: string) => SessionSettings): Workflow {
  read(store, readStore, 'store');
  const settingsOf = read<typeof settings>(settings, callable, 'settings');
  return sessionWorkflow({ store, executor: (sessionId) => sessionExecutor(settingsOf(sessionId), store) });
}

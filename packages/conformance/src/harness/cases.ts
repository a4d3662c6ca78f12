import type { AgentError, Event, Harness } from '@cobbler/agent';
import type { HarnessCapabilities, HarnessHandler } from '@cobbler/agent/harness';
import type { HarnessEnvironment } from './environment.ts';

/** What a case plays with. */
export interface HarnessFixture {
  readonly harness: Harness;
  /** What the handler of the harness has heard, one line each. */
  readonly heard: readonly string[];
  /** What was reported about the handler. */
  readonly reports: readonly AgentError[];
  /** The log of the harness' session, or of another one. */
  log(sessionId?: string): Promise<readonly Event[]>;
  /** Makes the store refuse what is appended, or take it again. */
  refuse(isFull: boolean): Promise<void>;
  /** Another conversation, with a handler of its own. */
  open(handler?: HarnessHandler): Promise<HarnessEnvironment & Pick<Opened, 'reports'>>;
}

/** A conversation and what was reported about its handler. */
export interface Opened {
  readonly stand: HarnessEnvironment;
  readonly reports: readonly AgentError[];
}

/**
 * What a case needs: a capability, that tools of the scene are called at all, whoever runs them, that they
 * are called by their names and side by side, or a store that can be made to refuse.
 */
export type HarnessNeed = keyof HarnessCapabilities | 'calls' | 'names' | 'refuses';

/** A case of the contract before it is bound to a harness. */
export interface HarnessCase {
  readonly group: string;
  readonly name: string;
  readonly needs: readonly HarnessNeed[];
  run(scene: HarnessFixture): Promise<void>;
}

/** Defines the cases of one group. */
export function group(
  name: string,
  needs: HarnessCase['needs'] = [],
): (what: string, run: HarnessCase['run']) => HarnessCase {
  return (what, run) => ({ group: name, name: what, needs, run });
}

import type { AgentError, Event } from '@cobbler/agent';
import type { Harness, HarnessCapabilities, HarnessHandler } from '@cobbler/agent/harness';
import type { HarnessEnvironment } from './environment.ts';

/** The environment of a case. */
export interface HarnessFixture {
  readonly harness: Harness;
  /** The calls that the handler has received, one line each. */
  readonly received: readonly string[];
  /** The errors reported about the handler. */
  readonly reports: readonly AgentError[];
  /** Returns the log of the harness's session or of another one. */
  log(sessionId?: string): Promise<readonly Event[]>;
  /** Makes the store reject appends or accept them again. */
  refuse(isFull: boolean): Promise<void>;
  /** Opens another conversation with its own handler. */
  open(handler?: HarnessHandler): Promise<HarnessEnvironment & Pick<OpenedHarness, 'reports'>>;
}

/** A conversation and the errors reported about its handler. */
export interface OpenedHarness {
  readonly environment: HarnessEnvironment;
  readonly reports: readonly AgentError[];
}

/**
 * A requirement of a case. Besides the capabilities: `calls` means that the fixture's tools are called at
 * all, `names` that they are called under their names and can run in parallel, and `refuses` that the store
 * can be made to reject appends.
 */
export type HarnessNeed = keyof HarnessCapabilities | 'calls' | 'names' | 'refuses';

/** A case of the contract before it is bound to a harness. */
export interface HarnessCase {
  readonly group: string;
  readonly name: string;
  readonly needs: readonly HarnessNeed[];
  run(fixture: HarnessFixture): Promise<void>;
}

/** Defines the cases of one group. */
export function group(
  name: string,
  needs: HarnessCase['needs'] = [],
): (what: string, run: HarnessCase['run']) => HarnessCase {
  return (what, run) => ({ group: name, name: what, needs, run });
}

import type { ContractCase } from '@cobbler/agent/testing';

/**
 * The groups that test sending, framing, time-outs, retries and aborting: `createAgent` does these for every
 * wire.
 */
const createAgentGroups: ReadonlySet<string> = new Set([
  'arguments',
  'bodies',
  'cancel',
  'clock',
  'connection',
  'cuts',
  'ends',
  'frames',
  'framing',
  'fuzz',
  'hostile',
  'lives',
  'network',
  'redirects',
  'retries',
  'retry-after',
  'secrets',
  'status',
  'waits',
]);

/**
 * Returns the cases of {@link agentContract} that depend on the wire, without those that depend only on
 * `createAgent`. A quick run needs only these if another test runs the whole contract over some wire.
 */
export function wireCases(cases: readonly ContractCase[]): ContractCase[] {
  return cases.filter(({ group }) => !createAgentGroups.has(group));
}

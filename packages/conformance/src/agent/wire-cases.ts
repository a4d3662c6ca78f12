import type { ContractCase } from '@cobbler/agent/testing';

/** The groups in which sending, framing, time-outs, retries and aborting are tried: `createAgent` does these for every wire. */
const kitGroups: ReadonlySet<string> = new Set([
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
 * Returns the cases of {@link agentContract} in which the wire decides, without those of the provider kit. A quick
 * run needs only these where another test runs the whole contract over any wire of the kit.
 */
export function wireCases(cases: readonly ContractCase[]): ContractCase[] {
  return cases.filter(({ group }) => !kitGroups.has(group));
}

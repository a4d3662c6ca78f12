import type { RunFixture, Spoil } from '@cobbler/agent/testing';

/** Makes another fixture with a new, empty store, for cases with several runs. */
export type CreateSetup = (addFaults?: Spoil) => RunFixture;

/** A case of the executor contract before it is bound to a store. */
export interface ExecutorCase {
  readonly group: string;
  readonly name: string;
  run(setup: RunFixture, createSetup: CreateSetup): Promise<void>;
}

/** Defines the cases of one group. */
export function group(name: string): (what: string, run: ExecutorCase['run']) => ExecutorCase {
  return (what, run) => ({ group: name, name: what, run });
}

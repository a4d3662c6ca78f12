import type { ContractCase } from '@cobbler/agent/testing';

/** One contract for one subject. */
export interface Suite {
  /** The words that select it. */
  readonly name: string;
  /** The contract; suites of one contract are next to each other in the table. */
  readonly contract: string;
  cases(): readonly ContractCase[];
  /** Some cases with short time limits: they fail if parts of a generated package are not written yet. */
  probe?(): readonly ContractCase[];
  /** Why it cannot run here, and how to install what is missing. It is then reported as not run. */
  readonly missing?: string | undefined;
  /** Other code that retains memory, so that the memory limit does not apply. */
  readonly heldBy?: string | undefined;
  /** Ends everything that the cases started. */
  close?(): Promise<void>;
}

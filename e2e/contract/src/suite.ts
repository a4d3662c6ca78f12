import type { ContractCase } from '@cobbler/agent/testing';

/** One contract over one thing that has to keep it. */
export interface Suite {
  /** What it is chosen by. */
  readonly name: string;
  /** Which contract it is: suites of one stand side by side. */
  readonly contract: string;
  cases(): readonly ContractCase[];
  /** Some of the cases, with little patience: they fail where parts of a generated package are not written yet. */
  probe?(): readonly ContractCase[];
  /** Why it cannot be run here, and how to come by what is missing: then it is named, and counts as nothing. */
  readonly missing?: string | undefined;
  /** What else holds memory, so that the limit on it does not apply. */
  readonly heldBy?: string | undefined;
  /** Ends what the cases have started. */
  close?(): Promise<void>;
}

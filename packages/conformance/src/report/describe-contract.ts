import type { ContractCase } from '@cobbler/agent/testing';

/** What a contract needs of a test runner: vitest's and node:test's own functions fit. */
export interface TestRunner {
  readonly describe: (name: string, define: () => void) => unknown;
  readonly it: (
    name: string,
    run: (context: { readonly skip: (reason?: string) => unknown }) => unknown,
  ) => unknown;
}

/**
 * Makes tests of a contract, a group of them for each group of cases. A case that is off becomes a test that is
 * skipped with its reason.
 *
 * ```ts
 * import { describe, it } from 'vitest';
 * describeContract(storeContract(() => myStore()), { describe, it });
 * ```
 */
export function describeContract(cases: readonly ContractCase[], { describe, it }: TestRunner): void {
  for (const [group, members] of Map.groupBy(cases, (member) => member.group)) {
    describe(group, () => {
      for (const { name, off, run } of members)
        it(name, (context) => (off === undefined ? run() : context.skip(off)));
    });
  }
}

import type { ContractCase } from '@cobbler/agent/testing';

/** The functions of a test runner that a contract needs; those of vitest and node:test fit. */
export interface TestRunner {
  readonly describe: (name: string, define: () => void) => unknown;
  readonly it: (
    name: string,
    run: (context: { readonly skip: (reason?: string) => unknown }) => unknown,
  ) => unknown;
}

/**
 * Defines the tests of a contract, with one `describe` for each group of cases. A case that does not apply becomes
 * a skipped test with its reason.
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

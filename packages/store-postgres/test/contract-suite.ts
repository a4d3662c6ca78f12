import type { ContractCase } from '@cobbler/agent/testing';
import { describe, it } from 'vitest';

/** Hands the cases of a contract to vitest; a case that is off is shown as skipped with its reason. */
export function contractSuite(cases: readonly ContractCase[]): void {
  for (const [group, members] of Map.groupBy(cases, (member) => member.group)) {
    describe(group, () => {
      for (const { name, off, run } of members) {
        if (off === undefined) it(name, run);
        else it(name, ({ skip }) => skip(off));
      }
    });
  }
}

/** A group of tests that need something; where it is missing they are one test that is skipped and says why. */
export function describeWith(missing: string | undefined, name: string, define: () => void): void {
  describe(name, () => {
    if (missing === undefined) define();
    else it('holds', ({ skip }) => skip(missing));
  });
}

/** Where something is missing the suite says so where it cannot be overlooked, and fails where it must not be missing. */
export function announce(what: string, missing: string | undefined): void {
  if (missing === undefined) return;
  if (process.env['COBBLER_SCALE'] === '1') throw new Error(`${what}: ${missing}`);
  process.stderr.write(`\n*** SKIPPED: ${what}: ${missing}; or run npm run test:scale\n\n`);
}

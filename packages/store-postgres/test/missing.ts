import { describe, it } from 'vitest';

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
  process.stderr.write(`\n*** SKIPPED: ${what}: ${missing}; or run npm run verify -- scale\n\n`);
}

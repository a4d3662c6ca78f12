import { describe, it } from 'vitest';

/**
 * Defines a group of tests that need a program. If it is missing, the group is one skipped test
 * with the reason.
 */
export function describeWith(missing: string | undefined, name: string, define: () => void): void {
  describe(name, () => {
    if (missing === undefined) define();
    else it('is skipped because a program is missing', ({ skip }) => skip(missing));
  });
}

/** Reports a missing program on stderr, or throws if `COBBLER_SCALE` is 1. */
export function announce(what: string, missing: string | undefined): void {
  if (missing === undefined) return;
  if (process.env['COBBLER_SCALE'] === '1') throw new Error(`${what}: ${missing}`);
  process.stderr.write(`\n*** SKIPPED: ${what}: ${missing}; or run npm run verify -- scale\n\n`);
}

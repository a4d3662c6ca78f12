/** A planted bug in the provider. The contract or a unit test must detect it. */
export interface Mutant {
  /** Path relative to the package. */
  readonly file: string;
  /** Code to replace; occurs exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /** Description of the bug. */
  readonly why: string;
  /** The violated promises ('P9') or requirements ('S0.16'). The detecting test cites one. */
  readonly breaks: readonly string[];
  /** The tests that must detect it: a prefix of contract case names, or a unit test file. */
  readonly by: string;
}

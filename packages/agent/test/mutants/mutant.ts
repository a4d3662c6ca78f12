/** A planted bug in the core that the tests must detect. */
export interface Mutant {
  /** Path within the directory of the package. */
  readonly file: string;
  /** Code to replace, which occurs exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /** The wrong behavior. */
  readonly why: string;
  /**
   * The promises ('P9'), requirements ('S0.16') or invariants ('F2') that it breaks; empty if nothing
   * with a number. The test that detects it cites one of them.
   */
  readonly breaks: readonly string[];
  /** The test that must detect it: a prefix of contract case names, or a file of unit tests. */
  readonly by: string;
}

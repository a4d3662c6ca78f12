/** A change that makes the core wrong. Something in the tests must notice every one of them. */
export interface Mutant {
  /** Below the package's folder. */
  readonly file: string;
  /** Stands exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /** What is wrong with it. */
  readonly why: string;
  /**
   * Which promises ('P9'), requirements ('S0.16') or invariants ('F2') it breaks; none when nothing that has a
   * number. What notices it cites one of them.
   */
  readonly breaks: readonly string[];
  /** What has to notice it: the beginning of the names of contract cases, or a file of unit tests. */
  readonly by: string;
}

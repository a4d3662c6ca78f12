/** A change that makes a tool wrong. Something in the tests must notice every one of them. */
export interface Mutant {
  /** Below the package's folder. */
  readonly file: string;
  /** Stands exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /** What is wrong with it. */
  readonly why: string;
  /** Which promises ('P9') or requirements it breaks; none when nothing that has a number. */
  readonly breaks: readonly string[];
  /** The file of unit tests that has to notice it. */
  readonly by: string;
}

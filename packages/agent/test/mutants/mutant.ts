/** A change that makes the core wrong. Something in the tests must notice every one of them. */
export interface Mutant {
  /** Below the package's folder. */
  readonly file: string;
  /** Stands exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /** What is wrong with it. */
  readonly why: string;
  /** Which promises it breaks. */
  readonly promises: readonly number[];
  /** What is likely to notice it: the beginning of a case's name, or a file of unit tests. It runs first. */
  readonly by: string;
}

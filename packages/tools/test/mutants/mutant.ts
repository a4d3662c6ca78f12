/** A planted bug in a tool. The tests named in `by` must detect it. */
export interface Mutant {
  /** Path relative to the directory of the package. */
  readonly file: string;
  /** Text that occurs exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /** Description of the bug. */
  readonly why: string;
  /** Promises (such as 'P9') or requirements that the bug violates; empty if none applies. */
  readonly breaks: readonly string[];
  /** The file of unit tests that must detect the bug. */
  readonly by: string;
}

/** A planted bug in delegation. The tests in the file `by` must detect it. */
export interface Mutant {
  /** Path within the package. */
  readonly file: string;
  /** Text that occurs exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /** The consequence of the bug. */
  readonly why: string;
  /** The requirements that the bug violates. The test that detects it cites one of them. */
  readonly breaks: readonly string[];
  /** The file of unit tests that must detect the bug. */
  readonly by: string;
}

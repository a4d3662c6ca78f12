/** A planted bug in what clients receive or in who has access. Tests must detect every one. */
export interface Mutant {
  /** The path relative to the server's directory. */
  readonly file: string;
  /** Text that occurs exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /** The wrong behavior. */
  readonly why: string;
  /** The requirements that it breaks; empty if the behavior has no number, as in a front end. */
  readonly breaks: readonly string[];
  /** The file of unit tests that must detect it. */
  readonly by: string;
}

type Planted = Omit<Mutant, 'breaks' | 'by' | 'file'>;

/** Returns planted bugs in one file that one file of tests must detect. */
export const planted = (file: string, by: string, some: readonly Planted[]): Mutant[] =>
  some.map((one) => ({ ...one, file: `src/${file}.ts`, by: `test/${by}.test.ts`, breaks: [] }));

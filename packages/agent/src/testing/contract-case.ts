/** One check of a contract: knows no test runner, so that any can run it. */
export interface ContractCase {
  /** What the case is about, one word; results are counted by it. */
  readonly group: string;
  /** What holds, as a statement. */
  readonly name: string;
  /** Resolves when it holds; rejects with what was found instead. */
  run(): Promise<void>;
  /** Why the case does not apply to this subject; it is then neither run nor counted as passed. */
  readonly off?: string;
}

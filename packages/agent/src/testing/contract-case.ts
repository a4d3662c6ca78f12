/** One check of a contract. It depends on no test runner, so that any of them can run it. */
export interface ContractCase {
  /** The topic of the case, one word; results are counted by it. */
  readonly group: string;
  /** The expected behavior, as a statement. */
  readonly name: string;
  /** Resolves if the check passes; rejects with the difference otherwise. */
  run(): Promise<void>;
  /** The reason why the case does not apply to this subject; it is then skipped and not counted as passed. */
  readonly off?: string;
}

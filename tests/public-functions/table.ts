/**
 * Returns valid arguments of a call. A function, because some values can be used only once. `owner` is the object of a
 * method.
 */
export type Sample = (owner: never) => readonly unknown[] | Promise<readonly unknown[]>;

/**
 * What a package says about its public functions, in its `test/sample-arguments.ts`. Keys name what is called, as in
 * code: `memoryStore`, `new Budget`, `claudeTranscripts.write` for a function in an exported object, and
 * `memoryStore().read` for a method of what the sample returns.
 */
export interface SampleTable {
  readonly samples: Readonly<Record<string, Sample>>;
  /** Makes objects that only functions of a caller receive, such as the steps of a workflow, by name. */
  readonly objects?: Readonly<Record<string, () => unknown>>;
  /** The functions that are not called, with the reason. */
  readonly exceptions: Readonly<Record<string, string>>;
  /** The directory that the samples use. Several test files use it, one after another, so they create and remove it. */
  readonly folder?: string;
}

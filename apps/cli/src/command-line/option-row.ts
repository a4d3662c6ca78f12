/** An option of a command, as it is parsed, explained and completed. */
export interface OptionRow {
  /** In commander's words: `-m, --model <name>`. */
  readonly flags: string;
  readonly text: string;
  /** May be given more than once. */
  readonly repeats?: true;
  /** Completion of the value. */
  readonly completes?: 'file' | 'folder' | readonly string[];
  /** Accepted, but not worth a line of help. */
  readonly hidden?: true;
}

/** A group of options under a heading of the help. */
export interface OptionGroup {
  readonly title: string;
  readonly options: readonly OptionRow[];
}

/** An option of a command, for parsing, help and completion. */
export interface OptionRow {
  /** The flags in commander's syntax: `-m, --model <name>`. */
  readonly flags: string;
  readonly text: string;
  /** Set if the option can be repeated. */
  readonly repeats?: true;
  /** Completions for the value. */
  readonly completes?: 'file' | 'folder' | readonly string[];
  /** Set if the option is accepted but not listed in the help. */
  readonly hidden?: true;
}

/** A group of options under one heading of the help. */
export interface OptionGroup {
  readonly title: string;
  readonly options: readonly OptionRow[];
}

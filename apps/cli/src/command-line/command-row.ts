import type { OptionGroup } from './option-row.ts';

/** A command of the command line. */
export interface CommandRow {
  readonly name: string;
  /** The operands in commander's syntax. */
  readonly operands: string;
  /** A description of one line for the list of commands. */
  readonly text: string;
  /** Additional lines of the command's help. */
  readonly about: readonly string[];
  readonly groups: readonly OptionGroup[];
  /** Completions for the first operand. */
  readonly words?: 'file' | readonly string[];
}

/** An option of a command, for parsing, help and completion. */
export interface OptionRow {
  /** The flags in commander's syntax: `-m, --model <name>`. */
  readonly flags: string;
  /** An option without a text is accepted but not listed in the help. */
  readonly text: string;
  readonly repeats: boolean;
}

/** A group of options under one heading of the help. */
export interface OptionGroup {
  readonly title: string;
  readonly options: readonly OptionRow[];
}

/** A command of the command line. */
export interface CommandRow {
  readonly name: string;
  /** The operands in commander's syntax. */
  readonly operands: string;
  /** A description of one line for the list of commands. */
  readonly text: string;
  /** Additional lines of the command's help. */
  readonly about: string;
  readonly groups: readonly OptionGroup[];
  /** Completions for the first operand. */
  readonly words?: 'file' | readonly string[];
}

/** Returns a command from its usage and its help: lines, then groups of options for {@link optionGroups}, then `groups`. */
export function command(
  usage: string,
  text: string,
  help: string,
  { groups = [], ...words }: Partial<Pick<CommandRow, 'groups' | 'words'>> = {},
): CommandRow {
  const [name = '', ...operands] = usage.split(' ');
  const start = help.search(/^\w.*\n {2}-/m);
  const own = start === -1 ? [] : optionGroups(help.slice(start));
  return {
    ...{ name, operands: operands.join(' '), text, ...words },
    about: help.slice(0, start === -1 ? help.length : start).trim(),
    groups: [...own, ...groups],
  };
}

/** Reads groups of options in the form in which the help shows them: a title, then a line for each option. */
export function optionGroups(help: string): OptionGroup[] {
  const blocks = help.trim().split('\n\n');
  return blocks.map((block) => {
    const [title = '', ...lines] = block.split('\n');
    return { title, options: lines.map(optionRow) };
  });
}

function optionRow(line: string): OptionRow {
  const [, flags = '', text = ''] = /^ {2}((?:-\w, )?--[\w-]+(?: <\w+>)?) *(.*)$/.exec(line) ?? [];
  return { flags, text, repeats: text.endsWith('; repeatable') };
}

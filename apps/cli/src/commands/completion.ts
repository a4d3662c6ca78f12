import { commandNames, commands, flagNames, optionsOf } from '../command-line/command-table.ts';
import { codes } from '../explain/catalogue.ts';
import type { Io } from '../terminal/io.ts';
import { didYouMean } from '../terminal/suggestion.ts';
import { UsageError } from '../terminal/usage-error.ts';

const shells: Readonly<Record<string, () => string>> = { bash, zsh, fish };

/**
 * Prints a completion script.
 * @throws UsageError for an unknown shell.
 */
export function completion(shell: string | undefined, io: Pick<Io, 'stdout'>): number {
  const write = shell !== undefined && Object.hasOwn(shells, shell) ? shells[shell] : undefined;
  if (write === undefined) {
    const names = Object.keys(shells);
    throw new UsageError(
      `There is no shell completion for ${JSON.stringify(shell ?? '')}.${didYouMean(shell ?? '', names)}`,
      `Supported: ${names.join(', ')}. Setup: cobbler help completion`,
    );
  }
  io.stdout.write(`${write()}\n`);
  return 0;
}

/** Completions after a command name. */
interface Followers {
  readonly flags: readonly string[];
  /** Known values of its first operand. */
  readonly operands: readonly string[];
  /** True if its first operand is a file. */
  readonly takesFile: boolean;
}

function followers(name: string): Followers {
  const row = commands.find((command) => command.name === name);
  if (row === undefined) return { flags: [], operands: [], takesFile: false };
  const flags = optionsOf(row)
    .filter((option) => !option.hidden)
    .flatMap(flagNames);
  const { words = name === 'explain' ? codes : [] } = row;
  return words === 'file'
    ? { flags, operands: [], takesFile: true }
    : { flags, operands: words, takesFile: false };
}

/** Returns the options that have a fixed set of values. */
function flagsWithValues(): { flags: string[]; values: readonly string[] }[] {
  return commands.flatMap(optionsOf).flatMap((option) => {
    const { completes } = option;
    const values = completes === undefined || completes === 'file' || completes === 'folder' ? [] : completes;
    return values.length === 0 ? [] : [{ flags: flagNames(option), values }];
  });
}

/** Returns the options whose value is a path, as a pattern for a shell's `case`. */
function pathFlags(kind: 'file' | 'folder'): string {
  const options = commands.flatMap(optionsOf).filter(({ completes }) => completes === kind);
  return [...new Set(options.flatMap(flagNames))].join('|');
}

function bash(): string {
  const cases = commandNames.map((name) => {
    const { flags, operands, takesFile } = followers(name);
    const file = takesFile ? ' if [[ "$current" != -* ]]; then _cobbler_paths -f; return; fi' : '';
    return `    ${name}) words="${[...flags, ...operands].join(' ')}";${file} ;;`;
  });
  const values = flagsWithValues().map(
    ({ flags, values }) =>
      `    ${flags.join('|')}) COMPREPLY=($(compgen -W "${values.join(' ')}" -- "$current")); return ;;`,
  );
  return `# cobbler completion for bash
_cobbler_paths() {
  local IFS=$'\n'
  compopt -o filenames 2>/dev/null
  COMPREPLY=($(compgen "$1" -- "$current"))
}
_cobbler() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" words
  COMPREPLY=()
  case "$before" in
${values.join('\n')}
    ${pathFlags('folder')}) _cobbler_paths -d; return ;;
    ${pathFlags('file')}) _cobbler_paths -f; return ;;
  esac
  case "\${COMP_WORDS[1]}" in
${cases.join('\n')}
    *) words="${followers('run').flags.join(' ')}" ;;
  esac
  if [ "$COMP_CWORD" -eq 1 ]; then words="$words ${commandNames.join(' ')} --help --version"; fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _cobbler cobbler`;
}

function zsh(): string {
  const cases = commandNames.map((name) => {
    const { flags, operands, takesFile } = followers(name);
    const file = takesFile ? ' if [[ "$words[CURRENT]" != -* ]]; then _files; return; fi' : '';
    return `    ${name}) candidates=(${[...flags, ...operands].join(' ')});${file} ;;`;
  });
  const values = flagsWithValues().map(
    ({ flags, values }) => `    ${flags.join('|')}) compadd -- ${values.join(' ')}; return ;;`,
  );
  return `#compdef cobbler
_cobbler() {
  local -a candidates
  case "\${words[CURRENT-1]}" in
${values.join('\n')}
    ${pathFlags('folder')}) _files -/; return ;;
    ${pathFlags('file')}) _files; return ;;
  esac
  case "\${words[2]}" in
${cases.join('\n')}
    *) candidates=(${followers('run').flags.join(' ')}) ;;
  esac
  if (( CURRENT == 2 )); then candidates+=(${commandNames.join(' ')} --help --version); fi
  compadd -- $candidates || _files
}
compdef _cobbler cobbler`;
}

function fish(): string {
  const lines = [
    '# cobbler completion for fish',
    'complete -c cobbler -n __fish_use_subcommand -l version -l help',
  ];
  for (const { name, text } of commands) {
    lines.push(`complete -c cobbler -n __fish_use_subcommand -f -a ${name} -d ${quote(text)}`);
  }
  for (const command of commands) {
    const condition =
      command.name === 'run'
        ? "'__fish_seen_subcommand_from run; or __fish_use_subcommand'"
        : `'__fish_seen_subcommand_from ${command.name}'`;
    const { operands, takesFile } = followers(command.name);
    for (const word of operands) lines.push(`complete -c cobbler -n ${condition} -f -a ${word}`);
    if (takesFile) lines.push(`complete -c cobbler -n ${condition} -F`);
    for (const option of optionsOf(command).filter((one) => !one.hidden)) {
      const names = flagNames(option).map((flag) =>
        flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`,
      );
      const takes = Array.isArray(option.completes)
        ? ` -x -a ${quote(option.completes.join(' '))}`
        : option.flags.includes('<')
          ? ' -r'
          : '';
      lines.push(`complete -c cobbler -n ${condition} ${names.join(' ')}${takes} -d ${quote(option.text)}`);
    }
  }
  return lines.join('\n');
}

function quote(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

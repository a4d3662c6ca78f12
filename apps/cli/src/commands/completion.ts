import { costGroups } from '@cobbler/agent/store';
import { commandNames, commands, flagNames, optionsOf } from '../command-line/command-table.ts';
import { efforts } from '../config/run-flags.ts';
import { codes } from '../explain/catalogue.ts';
import type { Io } from '../terminal/io.ts';
import { didYouMean } from '../terminal/suggestion.ts';
import { UsageError } from '../terminal/usage-error.ts';

const shells: Readonly<Record<string, () => string>> = { bash, zsh, fish };

/** Prints a completion script. @throws UsageError for an unknown shell. */
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
    .filter(({ text }) => text !== '')
    .flatMap(flagNames);
  const { words = name === 'explain' ? codes : name === 'help' ? commandNames : [] } = row;
  return words === 'file'
    ? { flags, operands: [], takesFile: true }
    : { flags, operands: words, takesFile: false };
}

const models = ['fast', 'balanced', 'best', 'claude:', 'openai:'];

/** Values to offer after an option, in every command that has it. */
const values: Readonly<Record<string, readonly string[]>> = {
  '--model': models,
  '--fallback': models,
  '--effort': efforts,
  '--api': ['responses', 'chat'],
  '--backend': ['claude-code', 'codex'],
  '--sandbox': ['workspace', 'strict', 'off'],
  '--max-repeats': ['never'],
  '--retry-for': ['never'],
  '--compact-above': ['never'],
  '--offload-above': ['never'],
  '--by': costGroups,
  '--runner': ['restate'],
  '--log-level': ['debug', 'info', 'warn', 'error'],
};

/** Options whose value is a file. */
const files = ['--attach', '--output', '--record', '--replay', '--store', '--persona', '--to'];

/** Options whose value is a directory. */
const folders = ['--dir', '--in'];

/** Returns options with their short names, as a pattern for a shell's `case`. */
function pattern(flags: readonly string[]): string {
  const names = commands.flatMap(optionsOf).map(flagNames);
  return flags.map((flag) => names.find((one) => one.includes(flag))?.join('|')).join('|');
}

function bash(): string {
  const cases = commandNames.map((name) => {
    const { flags, operands, takesFile } = followers(name);
    const file = takesFile ? ' if [[ "$current" != -* ]]; then _cobbler_paths -f; return; fi' : '';
    return `    ${name}) words="${[...flags, ...operands].join(' ')}";${file} ;;`;
  });
  const offers = Object.entries(values).map(
    ([flag, words]) =>
      `    ${pattern([flag])}) COMPREPLY=($(compgen -W "${words.join(' ')}" -- "$current")); return ;;`,
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
${offers.join('\n')}
    ${pattern(folders)}) _cobbler_paths -d; return ;;
    ${pattern(files)}) _cobbler_paths -f; return ;;
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
  const offers = Object.entries(values).map(
    ([flag, words]) => `    ${pattern([flag])}) compadd -- ${words.join(' ')}; return ;;`,
  );
  return `#compdef cobbler
_cobbler() {
  local -a candidates
  case "\${words[CURRENT-1]}" in
${offers.join('\n')}
    ${pattern(folders)}) _files -/; return ;;
    ${pattern(files)}) _files; return ;;
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
    for (const option of optionsOf(command).filter(({ text }) => text !== '')) {
      const names = flagNames(option).map((flag) =>
        flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`,
      );
      const words = values[flagNames(option).at(-1) ?? ''];
      const takes = words ? ` -x -a ${quote(words.join(' '))}` : option.flags.includes('<') ? ' -r' : '';
      lines.push(`complete -c cobbler -n ${condition} ${names.join(' ')}${takes} -d ${quote(option.text)}`);
    }
  }
  return lines.join('\n');
}

function quote(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

import { Command, CommanderError, Option } from 'commander';
import { didYouMean, nearest } from '../terminal/suggestion.ts';
import { UsageError } from '../terminal/usage-error.ts';
import type { CommandRow } from './command-row.ts';
import { commandNames, commands, flagNames, optionsOf } from './command-table.ts';

/** A parsed command line. */
export interface Invocation {
  readonly command: string;
  readonly operands: readonly string[];
  /** Options by commander's names: `--max-usd` is `maxUsd`. */
  readonly options: Readonly<Record<string, unknown>>;
}

/**
 * Parses a command line. Words that do not name a command are a prompt.
 * @throws UsageError for an unknown option or command, or a missing value.
 */
export function parseCommandLine(args: readonly string[]): Invocation {
  let found: Invocation | undefined;
  const program = new Command('cobbler');
  configure(program);
  // Declaring every command would take a tenth of the time until the first output.
  for (const row of commands.filter(({ name }) => name === 'run' || name === args[0])) {
    const command = program.command(row.name, { isDefault: row.name === 'run' });
    configure(command);
    declare(command, row);
    command.action(() => {
      found = { command: row.name, operands: command.args, options: command.opts() };
    });
  }
  try {
    program.parse([...args.map(readJsonMode)], { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) throw usageError(error, args);
    throw error;
  }
  if (found === undefined) throw new UsageError('The prompt is missing.', 'See: cobbler --help');
  if (found.command === 'run') checkPromptWords(found.operands, args);
  return found;
}

function configure(command: Command): void {
  command.exitOverride();
  command.helpOption(false);
  command.helpCommand(false);
  command.configureOutput({ writeErr: () => undefined, writeOut: () => undefined });
  command.showSuggestionAfterError(false);
}

function declare(command: Command, row: CommandRow): void {
  if (row.operands !== '') command.arguments(row.operands);
  for (const option of optionsOf(row)) {
    const declared = new Option(option.flags);
    if (option.repeats) {
      declared.argParser((value: string, before: readonly string[] | undefined) => [
        ...(before ?? []),
        value,
      ]);
    }
    command.addOption(declared);
  }
}

/** Reads `--json=MODE`. An optional value would consume the prompt, so the one form with a value is a separate option. */
function readJsonMode(arg: string): string {
  if (arg === '--json=deltas') return '--json-deltas';
  if (arg === '--json=events') return '--json';
  if (arg.startsWith('--json=')) {
    throw new UsageError(
      `${arg} is not an output format.`,
      'Use --json for events, or --json=deltas to include deltas.',
    );
  }
  return arg;
}

/** Rejects a single word that resembles a command: it is probably a mistake, and running it as a prompt would cost money. */
function checkPromptWords(words: readonly string[], args: readonly string[]): void {
  const [first] = words;
  if (first === undefined || args[0] === 'run') return;
  if (commandNames.includes(first)) {
    const rest = args.filter((arg) => arg !== first).join(' ');
    throw new UsageError(`Options must follow the command.`, `Use: cobbler ${first} ${rest}`);
  }
  const meant = words.length === 1 && !/\s/.test(first) ? nearest(first, commandNames) : undefined;
  if (meant === undefined) return;
  throw new UsageError(
    `There is no command ${JSON.stringify(first)}. Did you mean ${meant}?`,
    `If it is a prompt: cobbler run ${first}`,
  );
}

function usageError(error: CommanderError, args: readonly string[]): UsageError {
  const name = commandNames.includes(args[0] ?? '') ? (args[0] ?? 'run') : 'run';
  const help = `See: cobbler help ${name}`;
  const row = commands.find((command) => command.name === name);
  const unknown = /unknown option '([^']+)'/.exec(error.message)?.[1];
  if (unknown !== undefined && row !== undefined) {
    const known = optionsOf(row).filter(({ text }) => text !== '');
    const [flag = unknown] = unknown.split('=');
    const hint = flag.startsWith('--') ? didYouMean(flag, known.flatMap(flagNames)) : '';
    const prompt = /\s/.test(unknown) ? ['If it is a prompt, put -- before it.'] : [];
    return new UsageError(`There is no option ${flag}.${hint}`, ...prompt, help);
  }
  const message = error.message.replace(/^error: /, '');
  return new UsageError(`${message[0]?.toUpperCase() ?? ''}${message.slice(1)}.`.replace(/\.\.$/, '.'), help);
}

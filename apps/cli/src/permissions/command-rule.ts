import { readCommandLine } from '@cobbler/tools';
import type { PlacedStep } from './placed-steps.ts';
import { isWrapper, placedSteps } from './placed-steps.ts';

/** A rule that allows one program with certain words in one directory. */
export interface CommandRule {
  readonly program: string;
  /** Arguments that must come first, exactly and in this order. */
  readonly words: readonly string[];
  /** Arguments that may follow: exact, or `NAME=` for a flag with a number. */
  readonly flags: readonly string[];
  /** Relative to the workspace; `.` for the workspace itself. */
  readonly directory: string;
}

/**
 * Reads a rule, such as `npm test`, `cd web && npm test` or `git log [--oneline -n=]`. Returns undefined if it is not
 * one program whose words are certain, or has flags for a program that can start any other.
 */
export function readCommandRule(pattern: string): CommandRule | undefined {
  const [, words = pattern, flags = ''] = /^(.*) \[([\w =-]*)\]$/s.exec(pattern) ?? [];
  const line = readCommandLine(words);
  const [step, ...others] = (line === undefined ? undefined : placedSteps(line)) ?? [];
  if (step === undefined || others.length > 0) return undefined;
  const [program = '', ...rest] = step.argv;
  if (flags !== '' && isWrapper(program)) return undefined;
  return { program, words: rest, flags: flags.split(' ').filter(Boolean), directory: step.directory };
}

/** Writes a rule in the form that {@link readCommandRule} reads. */
export function printCommandRule({ program, words, flags, directory }: CommandRule): string {
  const move = directory === '.' ? [] : ['cd', word(directory), '&&'];
  const list = flags.length === 0 ? [] : [`[${flags.join(' ')}]`];
  return [...move, ...[program, ...words].map(word), ...list].join(' ');
}

/** Returns whether a rule allows a program of a command line; never a wrapper, to which the output before it is code. */
export function allowsStep(rule: CommandRule, { argv, directory, isPiped }: PlacedStep): boolean {
  const [program = '', ...words] = argv;
  if (program !== rule.program || directory !== rule.directory) return false;
  if (isPiped && isWrapper(program)) return false;
  const { length } = rule.words;
  return rule.words.every((one, index) => words[index] === one) && areFlags(words.slice(length), rule.flags);
}

/** Returns whether all arguments are flags of a list. */
export function areFlags(words: readonly string[], flags: readonly string[]): boolean {
  for (let index = 0; index < words.length; index += 1) {
    const flag = words[index] ?? '';
    const value = /(?<!\d)\d+$/.exec(flag)?.[0] ?? '';
    const name = flag.slice(0, flag.length - value.length).replace(/=$/, '');
    const isNumber = value !== '' && flag.startsWith('-');
    if (flags.includes(flag) || (isNumber && flags.includes(`${name}=`))) continue;
    index += 1;
    if (!flags.includes(`${flag}=`) || !/^\d+$/.test(words[index] ?? '')) return false;
  }
  return true;
}

function word(text: string): string {
  return /^[\w%+,./:=@-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

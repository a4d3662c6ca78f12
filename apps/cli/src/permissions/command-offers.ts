import { readCommandLine } from '@cobbler/tools';
import type { CommandRule } from './command-rule.ts';
import { areFlags, printCommandRule, readCommandRule } from './command-rule.ts';
import { placedSteps } from './placed-steps.ts';

/**
 * The rules that are offered in addition to the exact call. Every flag is reviewed: it writes no file, starts no
 * program, reads nothing outside the project and opens no connection.
 */
const reviewed: readonly CommandRule[] = [
  'git status [--short -s --branch -b --porcelain]',
  'git log [--oneline --stat --graph --no-color -n= --max-count=]',
  'git diff [--stat --name-only --name-status --cached --staged --no-color]',
  'git show [--stat --oneline --name-only --no-color]',
  'git branch [--all -a --list --show-current -v]',
  'ls [-1 -a -l -la -al -lh]',
  'tsc --noEmit [--pretty]',
].flatMap((text) => readCommandRule(text) ?? []);

/** Words of programs that destroy, publish or connect, which are asked about each time. */
const destructive =
  /(^|[\s/])(rm|rmdir|unlink|shred|dd|mkfs\S*|truncate|mv|chmod|chown|kill|pkill|killall|sudo|su|doas|shutdown|reboot|eval|exec|curl|wget|ssh|scp|rsync|publish|push|deploy|drop|delete|destroy|reset|clean|checkout|restore|rebase|prune|uninstall)(\s|$)|--force|--hard|\s-[a-z]*f\b/i;

/**
 * Returns the patterns to offer as "always" for a command, the narrowest first: this program with exactly these
 * arguments in this directory, and a reviewed rule that covers it. Empty for a line that is not understood, has several
 * programs or may be destructive.
 */
export function commandOffers(command: string, directory: string): string[] {
  const line = readCommandLine(command);
  const [step, ...others] = (line === undefined ? undefined : placedSteps(line, directory)) ?? [];
  if (step === undefined || others.length > 0 || destructive.test(step.argv.join(' '))) return [];
  const [program = '', ...words] = step.argv;
  const exact: CommandRule = { program, words, flags: [], directory: step.directory };
  const wider = reviewed.find(
    (rule) =>
      rule.program === program &&
      rule.words.every((one, index) => words[index] === one) &&
      areFlags(words.slice(rule.words.length), rule.flags),
  );
  const rules = [exact, ...(wider === undefined ? [] : [{ ...wider, directory: step.directory }])];
  return rules.map(printCommandRule);
}

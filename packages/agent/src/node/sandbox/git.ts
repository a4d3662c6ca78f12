import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { read, text } from '../../values/input.ts';
import type { CommandStep } from '../command-line.ts';
import { readCommandLine } from '../command-line.ts';

/** Files in git's directory that make git run programs, or read its configuration elsewhere. */
export const gitControls: readonly string[] = [
  'commondir',
  'config',
  'config.worktree',
  'hooks',
  'modules',
  'worktrees',
];

const writing = [
  ...['add', 'branch', 'checkout', 'cherry-pick', 'commit', 'gc', 'merge', 'mv', 'rebase', 'reset'],
  ...['restore', 'revert', 'rm', 'stash', 'switch', 'tag'],
];
const reading = ['diff', 'log', 'rev-parse', 'show', 'status'];

/** Options of git that run a program, also in their short and joined forms. */
const runsProgram = /(?:^| )(?:-[a-z]*x|--ex)/i;

/**
 * Returns whether a command line only calls git commands that change git's data and cannot run another program, apart
 * from the repository's own hooks.
 */
export function isGitLine(line: string): boolean {
  const { steps = [], operators = [] } = readCommandLine(read(line, text, 'line')) ?? {};
  return (
    operators.every((operator) => operator === '&&') &&
    steps.every(isHarmless) &&
    steps.some(({ argv: [, command = ''] }) => writing.includes(command))
  );
}

function isHarmless({ argv: [program, command = '', ...args], redirects }: CommandStep): boolean {
  if (redirects.length > 0) return false;
  if (program === 'cd') return args.length === 0 && command !== '';
  const isKnown = program === 'git' && (writing.includes(command) || reading.includes(command));
  return isKnown && !runsProgram.test(args.join(' '));
}

/**
 * Returns the directories with the data of the repository at a `.git`, common ones first. A `.git` file can name another
 * directory, which counts only if it is a repository's and names this file too.
 */
export function gitDirectories(path: string): string[] {
  try {
    if (lstatSync(path).isDirectory()) return [path];
    const textOf = (...names: string[]) => readFileSync(join(...names), 'utf8').trim();
    const directory = realpathSync(resolve(dirname(path), textOf(path).replace(/^gitdir: /, '')));
    if (realpathSync(resolve(directory, textOf(directory, 'gitdir'))) !== path) return [];
    const common = realpathSync(resolve(directory, textOf(directory, 'commondir')));
    return ['HEAD', 'objects', 'refs'].every((name) => existsSync(join(common, name)))
      ? [common, directory]
      : [];
  } catch {
    return [];
  }
}

/** Settings that programs in the sandbox get from the user's git configuration, which can contain keys. */
const identity = String.raw`^(user\.(name|email)|init\.defaultbranch|core\.(autocrlf|eol)|safe\.directory|pull\.rebase)$`;

/** Returns a git configuration with the user's name and a few harmless settings. */
export function gitIdentity(env: Readonly<Record<string, string | undefined>>): string {
  try {
    const args = ['config', '--global', '--includes', '-z', '--get-regexp', identity];
    const output = execFileSync('git', args, { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    const lines = output.split('\0').flatMap((entry) => {
      const [name = '', value] = entry.split(/\n(.*)/s);
      const [, section = '', key = ''] = /^([a-z]+)\.([a-z]+)$/.exec(name) ?? [];
      return key === '' ? [] : [`[${section}]\n\t${key} = ${JSON.stringify(value ?? '')}`];
    });
    return `${lines.join('\n')}\n`;
  } catch {
    return '';
  }
}

import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { read, text } from '../../values/input.ts';

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
const word = String.raw`(?:[\w./:@=,+%~^-]|'[^']*'|"[^"$\`\\!]*")+`;
const step = new RegExp(`^(?:cd ${word}|git (${[...writing, ...reading].join('|')})((?: +${word})*))$`);

/** Options of git that run a program, also in their short and joined forms. */
const runsProgram = /(?:^| )(?:-[a-z]*x|--ex)/i;

/**
 * Returns whether a command line only calls git commands that change git's data and cannot run another program, apart
 * from the repository's own hooks.
 */
export function isGitLine(line: string): boolean {
  const steps = read(line, text, 'line')
    .split('&&')
    .map((one) => step.exec(one.trim()));
  return (
    steps.some((found) => writing.includes(found?.[1] ?? '')) &&
    steps.every((found) => found !== null && !runsProgram.test((found[2] ?? '').replace(/['"]/g, '')))
  );
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

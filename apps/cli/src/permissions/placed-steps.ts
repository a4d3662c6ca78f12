import { posix } from 'node:path';
import type { CommandLine, CommandStep } from '@cobbler/tools';

/** One program of a command line, with the directory in which it runs. */
export interface PlacedStep {
  readonly argv: CommandStep['argv'];
  /** Relative to the workspace; `.` for the workspace itself. */
  readonly directory: string;
  /** True if the program reads the output of the one before it. */
  readonly isPiped: boolean;
}

/**
 * Returns the programs of a command line. `cd DIRECTORY &&` is not among them: it sets the directory of those that
 * follow. Undefined if a directory is not certain: after a `cd` of any other form, or with `;` or `||` after it, which
 * continue although `cd` failed.
 */
export function placedSteps(line: CommandLine, directory = '.'): readonly PlacedStep[] | undefined {
  const { steps, operators } = line;
  const moves = steps.some(({ argv }) => argv[0] === 'cd');
  if (moves && operators.some((operator) => operator === ';' || operator === '||')) return undefined;
  let at = plainDirectory(directory);
  const placed: PlacedStep[] = [];
  for (const [index, { argv, redirects }] of steps.entries()) {
    const isPiped = operators[index - 1] === '|';
    if (argv[0] !== 'cd') placed.push({ argv, directory: at, isPiped });
    else {
      const [, target = ''] = argv;
      const isPlain = argv.length === 2 && redirects.length === 0 && /^[^-]/.test(target);
      if (!isPlain || isPiped || operators[index] !== '&&') return undefined;
      at = plainDirectory(posix.isAbsolute(target) ? target : posix.join(at, target));
    }
  }
  return placed;
}

function plainDirectory(path: string): string {
  return posix.normalize(path).replace(/(?<=.)\/$/, '');
}

/** Programs that run what their arguments or their input say. A version at the end of the name is ignored. */
const wrappers: ReadonlySet<string> = new Set([
  ...['.', 'alias', 'builtin', 'command', 'eval', 'exec', 'source', 'trap'],
  ...['ash', 'bash', 'busybox', 'dash', 'fish', 'ksh', 'sh', 'zsh'],
  ...[
    'chroot',
    'doas',
    'env',
    'nice',
    'nohup',
    'setsid',
    'stdbuf',
    'su',
    'sudo',
    'time',
    'timeout',
    'unshare',
  ],
  ...['entr', 'fd', 'find', 'parallel', 'script', 'ssh', 'watch', 'xargs'],
  ...['awk', 'bun', 'deno', 'gawk', 'lua', 'node', 'perl', 'php', 'python', 'ruby', 'tsx'],
  ...['bunx', 'npx', 'pipx', 'pnpx', 'uvx'],
]);

/** Returns whether a program can start any other: a wrapper such as `env` or `sh`, or a program given by a relative path. */
export function isWrapper(program: string): boolean {
  const name = baseName(program);
  return (
    (program.includes('/') && !program.startsWith('/')) ||
    wrappers.has(name.replace(/(?<=[^\d.])[\d.]+$/, ''))
  );
}

/** Returns the name of a program without its directories, in lower case, because some file systems ignore case. */
export function baseName(program: string): string {
  return posix.basename(program).toLowerCase();
}

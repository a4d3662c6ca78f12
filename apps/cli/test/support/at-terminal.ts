import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { shellQuoted } from '../../src/permissions/permission-rule.ts';
import type { Ended } from './binary.ts';
import { bareEnvironment, command, ended } from './binary.ts';

/** True if util-linux's `script`, which runs a program in its own terminal, is installed. */
export const hasScript: boolean =
  spawnSync('script', ['--version']).stdout?.toString().includes('util-linux') ?? false;

/**
 * Runs the CLI, or another command, in a terminal of 80 columns, and types keys when the output contains a text, or some
 * milliseconds later, like a user who reads first.
 */
export async function atTerminal(
  args: readonly string[],
  options: {
    readonly env: Readonly<Record<string, string>>;
    readonly cwd: string;
    readonly typing?: readonly (readonly [words: string, keys: string, afterMs?: number])[];
    readonly before?: string;
    readonly command?: readonly string[];
  },
): Promise<Ended & { readonly terminal: string }> {
  const line = [...(options.command ?? command), ...args].map(shellQuoted).join(' ');
  const child = spawn(
    'script',
    [
      '-qec',
      `stty cols 80 rows 24; ${options.before ?? ''} ${line}; c=$?; stty -a > stty; exit $c`,
      '/dev/null',
    ],
    {
      cwd: options.cwd,
      env: { ...bareEnvironment(options.env), SHELL: '/bin/sh' },
      stdio: ['pipe', 'pipe', 'pipe'],
    },
  );
  onTestFinished(() => void child.kill());
  const typing = [...(options.typing ?? [])];
  let seen = '';
  const end = await ended(child, {
    onOutput: (text) => {
      seen += text;
      const [next] = typing;
      if (next === undefined || !seen.includes(next[0])) return;
      typing.shift();
      seen = '';
      setTimeout(() => child.stdin?.write(next[1]), next[2] ?? 0);
    },
  });
  return { ...end, terminal: readFileSync(join(options.cwd, 'stty'), 'utf8') };
}

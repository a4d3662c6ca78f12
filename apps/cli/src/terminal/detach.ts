import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { isatty } from 'node:tty';
import type { DetachedStart } from './io.ts';

/** The program, the options of Node and the main file of this process. */
export function ownCommand(): readonly [string, ...string[]] {
  return [process.execPath, ...process.execArgv, ...process.argv.slice(1, 2)];
}

/** Implements `Io.detach`. */
export function detach({ args, cwd, log, readsInput }: DetachedStart): Promise<number> {
  const [program, ...own] = ownCommand();
  mkdirSync(dirname(log), { recursive: true, mode: 0o700 });
  const output = openSync(log, 'a', 0o600);
  try {
    const input = readsInput && !isatty(0) ? 'inherit' : 'ignore';
    const child = spawn(program, [...own, ...args], {
      ...{ cwd, detached: true, windowsHide: true },
      stdio: [input, output, output],
    });
    child.unref();
    return new Promise((resolve) => {
      child.once('error', () => resolve(1));
      child.once('exit', (code) => resolve(code ?? 1));
    });
  } finally {
    closeSync(output);
  }
}

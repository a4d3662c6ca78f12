import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, relative, resolve, sep } from 'node:path';
import type { Environment, Io } from '../terminal/io.ts';
import { UsageError } from '../terminal/usage-error.ts';
import { readFailure } from './attachment.ts';

/** Returns the real path of the working directory. @throws UsageError if it is not a readable directory. */
export function workFolder(given: string | undefined, io: Pick<Io, 'cwd'>): string {
  const path = resolve(io.cwd(), given ?? '.');
  try {
    if (!statSync(path).isDirectory()) {
      throw UsageError.withCode(
        'workspace',
        `${given ?? path} is not a directory.`,
        'Pass the working directory: -C DIR',
      );
    }
    accessSync(path, constants.R_OK | constants.X_OK);
    return realpathSync(path);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw UsageError.withCode(
      'workspace',
      `The directory ${given ?? path} ${readFailure(error)}.`,
      'Choose another: -C DIR',
    );
  }
}

/**
 * Checks, before anything is spent, that a file can be written later.
 * @throws UsageError if its directory does not exist or the path is a directory.
 */
export function checkWritable(path: string, flag = '-o'): void {
  try {
    accessSync(dirname(path), constants.W_OK);
  } catch (error) {
    throw new UsageError(
      `Cannot write ${path}: its directory ${readFailure(error).replace('read', 'written')}.`,
      `Choose another file: ${flag} FILE`,
    );
  }
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) {
    throw new UsageError(`${path} is a directory.`, `Pass a file: ${flag} FILE`);
  }
}

/** Returns a path for display: `~` stands for the home directory. */
export function shortPath(path: string, env: Environment): string {
  const home = env['HOME'] ?? homeOrNone();
  if (home === undefined || home === '' || home === sep) return path;
  const rest = relative(home, path);
  if (rest === '') return '~';
  return rest.startsWith('..') || rest === path ? path : join('~', rest);
}

function homeOrNone(): string | undefined {
  try {
    return homedir();
  } catch {
    return undefined;
  }
}

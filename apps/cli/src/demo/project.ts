import { cpSync, mkdtempSync, readFileSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readFailure } from '../config/attachment.ts';
import { packageRoot } from '../package-root.ts';
import type { Environment } from '../terminal/io.ts';
import { UsageError } from '../terminal/usage-error.ts';

/** The project within the package: one directory up, both from the sources and from the bundle. */
const original = new URL('demo/', packageRoot);

/** Copies the demo project to a new directory and returns its real path. */
export function newDemoProject(): string {
  try {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'cobbler-demo-')));
    cpSync(fileURLToPath(original), folder, { recursive: true });
    return folder;
  } catch (error) {
    const reason = readFailure(error).replace('read', 'written');
    throw new UsageError(
      `The demo needs a temporary directory, but ${tmpdir()} ${reason}.`,
      'Set TMPDIR to a writable directory.',
    );
  }
}

/** Returns a PATH with which the project's tests find Node even if Node was started by its full path. */
export function pathWithNode(env: Environment): string {
  return [env['PATH'], dirname(process.execPath)].filter(Boolean).join(delimiter);
}

/**
 * Checks that a directory contains a demo project, because the script runs commands and edits without asking.
 * @throws UsageError for any other directory.
 */
export function checkDemoProject(folder: string): void {
  if (projectName(folder) === projectName(fileURLToPath(original))) return;
  throw new UsageError(
    `${folder} does not contain a demo project.`,
    'Start with: cobbler demo   (it prints the directory it uses)',
  );
}

function projectName(folder: string): unknown {
  try {
    const manifest: { name?: unknown } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    return manifest.name;
  } catch {
    return undefined;
  }
}

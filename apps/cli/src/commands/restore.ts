import { chmodSync, constants, copyFileSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Manifest } from '../backup/manifest.ts';
import { digestOf, readManifest } from '../backup/manifest.ts';
import { homeToKeep } from '../session/session-home.ts';
import { visible } from '../terminal/escape.ts';
import { plural } from '../terminal/format.ts';
import type { Io } from '../terminal/io.ts';
import { UsageError } from '../terminal/usage-error.ts';

/** Files that an empty home directory may contain. */
const empty: ReadonlySet<string> = new Set(['compiled']);

/**
 * Runs `cobbler restore FOLDER`: restores a backup into an empty home directory. Returns the exit code.
 * @throws UsageError if the directory is not a complete backup, or the home directory is in use.
 */
export async function restore(given: string, io: Io): Promise<number> {
  const home = homeToKeep(io.env);
  if (home === undefined) {
    throw new UsageError(
      'The backup cannot be restored, because there is no home directory.',
      'Set COBBLER_HOME to an empty directory.',
    );
  }
  const folder = resolve(io.cwd(), given);
  const manifest = readManifest(folder);
  const held = existsSync(home) ? readdirSync(home).filter((name) => !empty.has(name)) : [];
  if (held.length > 0) {
    throw new UsageError(
      `${home} is not empty: it contains ${held.slice(0, 3).join(', ')}. Nothing was changed.`,
      'Move its contents elsewhere, or set COBBLER_HOME to another directory.',
    );
  }
  await checkWhole(folder, manifest);
  copyInto(home, folder, manifest);
  io.stderr.write(
    `Restored ${plural(manifest.files.length, 'file')} from the backup of ${manifest.madeAt} to ${visible(home)}. Unfinished work continues at the next start.\n`,
  );
  return 0;
}

/**
 * Checks that every file is unchanged.
 * @throws UsageError for a file that is missing or has changed.
 */
async function checkWhole(folder: string, { files }: Manifest): Promise<void> {
  for (const { name, sha256 } of files) {
    const path = join(folder, name);
    const found = existsSync(path) ? await digestOf(path) : undefined;
    if (found === sha256) continue;
    const what = found === undefined ? 'is missing from' : 'has changed in';
    throw new UsageError(`${name} ${what} this backup. Nothing was changed.`, 'Use another backup.');
  }
}

/** Copies all files, or none, as long as the disk allows the copies to be removed. */
function copyInto(home: string, folder: string, { files }: Manifest): void {
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const put: string[] = [];
  try {
    for (const { name } of files) {
      const to = join(home, name);
      mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
      copyFileSync(join(folder, name), to, constants.COPYFILE_EXCL);
      put.push(to);
      chmodSync(to, 0o600);
    }
  } catch (error) {
    for (const path of put) rmSync(path, { force: true });
    throw error;
  }
}

import { chmodSync, copyFileSync, existsSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import { copyDatabase } from '@cobbler/agent/node';
import type { KeptFile } from '../backup/kept-files.ts';
import { keptFiles } from '../backup/kept-files.ts';
import type { BackupFile } from '../backup/manifest.ts';
import { digestOf, writeManifest } from '../backup/manifest.ts';
import { homeToKeep } from '../session/session-home.ts';
import { visible } from '../terminal/escape.ts';
import { plural } from '../terminal/format.ts';
import type { Io } from '../terminal/io.ts';
import { UsageError } from '../terminal/usage-error.ts';
import { ownVersion } from '../terminal/version.ts';

/**
 * `cobbler backup FOLDER`: copies what is kept, while it is in use. Returns the exit code.
 * @throws UsageError when there is nothing to copy, or something in the way; AgentError for a damaged database.
 */
export async function backup(given: string, io: Io): Promise<number> {
  const home = homeToKeep(io.env);
  if (home === undefined || !existsSync(home)) {
    throw new UsageError('No home directory to back up.', 'Set it: COBBLER_HOME=DIR');
  }
  const folder = resolve(io.cwd(), given);
  checkPlace(folder, resolve(io.cwd(), home));
  const draft = `${folder}.part-${process.pid}`;
  try {
    mkdirSync(draft, { recursive: true, mode: 0o700 });
    const files: BackupFile[] = [];
    for (const file of keptFiles(home)) {
      const copied = await copy(file, home, draft);
      if (copied !== undefined) files.push(copied);
    }
    if (files.length === 0) throw new UsageError(`${home} contains no data yet.`);
    writeManifest(draft, { v: 1, cobbler: ownVersion(), madeAt: new Date().toISOString(), files });
    renameSync(draft, folder);
    const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
    const size = `${(bytes / 1_048_576).toFixed(1)} MiB`;
    io.stderr.write(`${plural(files.length, 'file')}, ${size}, copied to ${visible(folder)}.\n`);
    io.stdout.write(`${folder}\n`);
    return 0;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

function checkPlace(folder: string, home: string): void {
  if (existsSync(folder)) {
    throw new UsageError(
      `${folder} already exists.`,
      'Choose a new directory, for example one with the date in its name.',
    );
  }
  if (folder === home || folder.startsWith(home + sep)) {
    throw new UsageError(`${folder} is inside the directory to back up.`, 'Choose a directory elsewhere.');
  }
}

/** Nothing for a file that is gone by now. */
async function copy(file: KeptFile, home: string, draft: string): Promise<BackupFile | undefined> {
  const [from, to] = [join(home, file.name), join(draft, file.name)];
  mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
  if (file.isDatabase) {
    const { format } = copyDatabase(from, to);
    return { ...(await factsOf(file.name, to)), format };
  }
  try {
    copyFileSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  chmodSync(to, 0o600);
  return await factsOf(file.name, to);
}

async function factsOf(name: string, path: string): Promise<BackupFile> {
  return { name, bytes: statSync(path).size, sha256: await digestOf(path) };
}

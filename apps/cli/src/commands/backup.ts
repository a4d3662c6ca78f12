import { createHash } from 'node:crypto';
import {
  chmodSync,
  constants,
  copyFileSync,
  createReadStream,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import { copyDatabase, isDatabase } from '@cobbler/agent/node';
import { homeToKeep } from '../session/session-home.ts';
import { visible } from '../terminal/escape.ts';
import { plural } from '../terminal/format.ts';
import type { Io } from '../terminal/io.ts';
import { UsageError } from '../terminal/usage-error.ts';
import { ownVersion } from '../terminal/version.ts';

/**
 * Runs `cobbler backup FOLDER`: copies all stored data, while it is in use. Returns the exit code.
 * @throws UsageError if there is nothing to copy or the target is not usable; AgentError for a damaged database.
 */
export async function backup(given: string, io: Io): Promise<number> {
  const home = homeToKeep(io.env);
  if (home === undefined || !existsSync(home)) {
    throw new UsageError(
      'There is no home directory to back up.',
      'Set COBBLER_HOME to the directory to back up.',
    );
  }
  const folder = resolve(io.cwd(), given);
  checkPlace(folder, resolve(io.cwd(), home));
  const unfinished = `${folder}.part-${process.pid}`;
  try {
    mkdirSync(unfinished, { recursive: true, mode: 0o700 });
    const files: BackupFile[] = [];
    for (const file of keptFiles(home)) {
      const copied = await copy(file, home, unfinished);
      if (copied !== undefined) files.push(copied);
    }
    if (files.length === 0)
      throw new UsageError(
        `${home} contains no data yet.`,
        'If your data is in another directory, set COBBLER_HOME to that directory.',
      );
    writeManifest(unfinished, { v: 1, cobbler: ownVersion(), madeAt: new Date().toISOString(), files });
    renameSync(unfinished, folder);
    const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
    const size = `${(bytes / 1_048_576).toFixed(1)} MiB`;
    io.stderr.write(`${plural(files.length, 'file')}, ${size}, copied to ${visible(folder)}.\n`);
    io.stdout.write(`${folder}\n`);
    return 0;
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
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

/** Copies a file. Returns undefined if it no longer exists. */
async function copy(file: KeptFile, home: string, target: string): Promise<BackupFile | undefined> {
  const [from, to] = [join(home, file.name), join(target, file.name)];
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

/** Files that can be recreated or matter only to a running process. Paths relative to the home directory. */
const passing =
  /^(compiled|processes)\/|^server\.json$|^address$|(^|\/)(lock\.db|part-[^/]*)$|-(wal|shm|journal|made)$|-owner-[^/]*$/;

interface KeptFile {
  /** Path relative to the home directory, with slashes. */
  readonly name: string;
  readonly isDatabase: boolean;
}

/**
 * Returns everything in a home directory that outlives a process, in an order that is safe to copy while it is in
 * use: the runs before the data that they write (an unfinished run continues, a finished one never runs again), and
 * databases before the files that they refer to. The copy is then a state that a crash could have
 * left.
 */
function keptFiles(home: string): KeptFile[] {
  const files = filesBelow(home, '')
    .filter((name) => !passing.test(name))
    .map((name) => ({ name, isDatabase: isDatabase(join(home, name)) }));
  const rank = (file: KeptFile) => (!file.isDatabase ? 2 : /(^|\/)runs\.db$/.test(file.name) ? 0 : 1);
  return files.sort((left, right) => rank(left) - rank(right) || (left.name < right.name ? -1 : 1));
}

/** Returns regular files only; it does not follow links. */
function filesBelow(home: string, folder: string): string[] {
  return readdirSync(join(home, folder), { withFileTypes: true }).flatMap((entry) => {
    const name = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) return filesBelow(home, name);
    return entry.isFile() ? [name] : [];
  });
}

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
    `Restored ${plural(manifest.files.length, 'file')} to ${visible(home)} from the backup of ${manifest.madeAt}. The server and the bot will continue unfinished work when you start them.\n`,
  );
  return 0;
}

/** Checks that every file is unchanged. @throws UsageError for a file that is missing or has changed. */
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

interface BackupFile {
  /** Path relative to the backup directory, with slashes. */
  readonly name: string;
  readonly bytes: number;
  /** In hexadecimal. */
  readonly sha256: string;
  /** The schema version of a database. */
  readonly format?: number;
}

/** The contents of a backup. It is written last, so a directory without it is not a backup. */
interface Manifest {
  readonly v: 1;
  readonly cobbler: string;
  /** Creation time in ISO 8601. */
  readonly madeAt: string;
  readonly files: readonly BackupFile[];
}

const manifestName = 'manifest.json';

function writeManifest(folder: string, manifest: Manifest): void {
  writeFileSync(join(folder, manifestName), `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600 });
}

/**
 * Reads the manifest of a backup.
 * @throws UsageError if the directory is not a backup, or this version cannot read it.
 */
export function readManifest(folder: string): Manifest {
  const manifest = manifestIn(folder);
  if (manifest.v !== 1) {
    throw new UsageError(`${folder} was written by a newer version of Cobbler.`, 'Update Cobbler.');
  }
  for (const { name } of manifest.files) {
    if (/^\/|(^|\/)\.\.?(\/|$)|[\\\0]/.test(name) || name === '') throw noBackupError(folder);
  }
  return manifest;
}

function manifestIn(folder: string): Manifest {
  try {
    const manifest: Manifest = JSON.parse(readFileSync(join(folder, manifestName), 'utf8'));
    if (typeof manifest.v === 'number' && Array.isArray(manifest.files)) return manifest;
  } catch {
    // The error below reports it.
  }
  throw noBackupError(folder);
}

function noBackupError(folder: string): UsageError {
  return new UsageError(
    `${folder} is not a backup: it does not contain manifest.json.`,
    'Create one: cobbler backup FOLDER',
  );
}

async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file)) hash.update(chunk);
  return hash.digest('hex');
}

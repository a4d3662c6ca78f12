import { createHash } from 'node:crypto';
import { createReadStream, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from '../terminal/usage-error.ts';

/** One file of a backup. */
export interface BackupFile {
  /** Path relative to the backup directory, with slashes. */
  readonly name: string;
  readonly bytes: number;
  /** In hexadecimal. */
  readonly sha256: string;
  /** The schema version of a database. */
  readonly format?: number;
}

/** The contents of a backup. It is written last, so a directory without it is not a backup. */
export interface Manifest {
  readonly v: 1;
  /** The Cobbler version that created the backup. */
  readonly cobbler: string;
  /** Creation time in ISO 8601. */
  readonly madeAt: string;
  readonly files: readonly BackupFile[];
}

const manifestName = 'manifest.json';

export function writeManifest(folder: string, manifest: Manifest): void {
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

/** Returns the SHA-256 of a file in hexadecimal. */
export async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file)) hash.update(chunk);
  return hash.digest('hex');
}

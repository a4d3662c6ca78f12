import { chmodSync, mkdirSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { parseConfig } from '@cobbler/agent/node';
import { parseDocument } from 'yaml';
import { whyUnreadable } from '../config/attachment.ts';
import { UsageError } from '../terminal/usage-error.ts';

/**
 * Puts one value into the configuration file; comments and all else in it stay. The file is for its owner
 * alone (mode 600), since it may hold keys, and is replaced as a whole, so that it is never half written.
 *
 * @throws UsageError when it cannot be written, AgentError `invalid` when the outcome would not be usable.
 */
export async function writeSetting(path: string, keys: readonly string[], value: unknown): Promise<void> {
  const before = readOrEmpty(path);
  if (before.trim() !== '') await parseConfig(before, path);
  const document = parseDocument(before);
  document.setIn(keys, value);
  const text = document.toString();
  await parseConfig(text, path);
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    replaceFile(realPathOf(path), text);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason';
    throw new UsageError(`Cannot write ${path} (${code}).`, 'Set COBBLER_HOME to a writable directory.');
  }
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
    throw new UsageError(`${path} ${whyUnreadable(error)}.`, 'Check its owner and mode.');
  }
}

/** A link to the file, as people keep who store their settings elsewhere, must stay a link. */
function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function replaceFile(path: string, text: string): void {
  const fresh = `${path}.${process.pid}.new`;
  try {
    writeFileSync(fresh, text, { mode: 0o600, flag: 'wx' });
    // The umask may have taken bits from the mode, but never adds any; a file of before may have had more.
    chmodSync(fresh, 0o600);
    renameSync(fresh, path);
  } catch (error) {
    rmSync(fresh, { force: true });
    throw error;
  }
}

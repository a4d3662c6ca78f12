import type { ErrorData } from '../../values/errors.ts';
import { AgentError, summarize, withArgumentErrors } from '../../values/errors.ts';

type DatabaseErrorFields = Pick<ErrorData, 'kind' | 'code' | 'message' | 'retryable'>;

/** SQLite's primary result codes: https://www.sqlite.org/rescode.html */
const busy = 5;
const locked = 6;
const readOnly = 8;
const ioError = 10;
const corrupt = 11;
const full = 13;
const cannotOpen = 14;
const tooBig = 18;
const notDatabase = 26;

/** Converts an error of SQLite or the file system to one that states what happened to the store and what to do. */
export function storeError(thrown: unknown, file: string, contents = 'sessions'): AgentError {
  return withArgumentErrors('storeError', () => {
    if (AgentError.is(thrown)) return thrown;
    const cause = summarize(thrown);
    return new AgentError({
      ...errorFields(codeOf(thrown), { file, contents, reason: cause.message }),
      cause,
    });
  });
}

/** Returns true if another process is writing and waiting helps. */
export function isBusy(thrown: unknown): boolean {
  return withArgumentErrors('isBusy', () => {
    const code = codeOf(thrown);
    return code === busy || code === locked;
  });
}

/** Returns true if the data is not what SQLite has written. */
export function isCorrupt(thrown: unknown): boolean {
  const code = codeOf(thrown);
  return code === corrupt || code === notDatabase;
}

/** Returns the SQLite result code of an error, or the system's code for other errors. */
function codeOf(thrown: unknown): number | string | undefined {
  if (typeof thrown !== 'object' || thrown === null) return undefined;
  const { errcode, code } = thrown as { readonly errcode?: unknown; readonly code?: unknown };
  if (typeof errcode === 'number') return errcode & 0xff;
  return typeof code === 'string' ? code : undefined;
}

function errorFields(
  code: number | string | undefined,
  { file, contents, reason }: { readonly file: string; readonly contents: string; readonly reason: string },
): DatabaseErrorFields {
  switch (code) {
    case busy:
    case locked:
      return environment('store_busy', `Another program is using ${file}; try again.`, true);
    case full:
    case 'ENOSPC':
      return environment(
        'store_full',
        `There is no space left for ${file}: the disk is full or the store has reached its size limit. No stored data was lost. Free disk space or delete old ${contents}.`,
      );
    case readOnly:
    case 'EROFS':
      return user(
        'store_readonly',
        `${file} cannot be written. This program needs write access to the file, its directory, and the files next to it that end in -wal and -shm.`,
      );
    case corrupt:
    case notDatabase:
      return user('store_damaged', `${file} is damaged (${reason}). ${adviceOn(file, contents)}`);
    case cannotOpen:
      return unreachable(file, reason);
    case tooBig:
      return user(
        'too_large',
        'The data is larger than the store can hold; nothing was written. Store large data elsewhere, and pass a reference to it.',
      );
    case ioError:
      return environment('store_io', `Reading or writing ${file} failed (${reason}). Check the disk.`);
    default:
      // An operating system code, such as EACCES.
      if (typeof code === 'string' && /^E(?!RR_)/.test(code)) return unreachable(file, reason);
      return environment('store', `The store ${file} failed: ${reason}`);
  }
}

function adviceOn(file: string, contents: string): string {
  return contents === 'sessions'
    ? salvageAdvice(file)
    : 'Copy it and the files next to it that end in -wal and -shm, then restore a backup.';
}

/** Returns what to do about a damaged session store. */
export function salvageAdvice(file: string): string {
  return `Run cobbler store salvage ${file} to copy the intact sessions into a new file, or restore a backup.`;
}

function unreachable(file: string, reason: string): DatabaseErrorFields {
  return user(
    'store_unreachable',
    `${file} cannot be opened or created (${reason}). Check its directory and permissions.`,
  );
}

function user(code: string, message: string): DatabaseErrorFields {
  return { kind: 'invalid', code, message };
}

function environment(code: string, message: string, retryable = false): DatabaseErrorFields {
  return { kind: 'agent', code, message, retryable };
}

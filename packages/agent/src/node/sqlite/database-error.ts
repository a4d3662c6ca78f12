import type { ErrorData } from '../../values/errors.ts';
import { AgentError, summarize } from '../../values/errors.ts';

type DatabaseErrorFields = Pick<ErrorData, 'kind' | 'code' | 'message' | 'retryable'>;

/** SQLite's result codes, without what makes them finer: https://www.sqlite.org/rescode.html */
const busy = 5;
const locked = 6;
const readOnly = 8;
const ioError = 10;
const corrupt = 11;
const full = 13;
const cannotOpen = 14;
const tooBig = 18;
const notDatabase = 26;

/** An error of SQLite or of the file system as one that says what happened to the store and what to do. */
export function storeError(thrown: unknown, file: string, contents = 'sessions'): AgentError {
  if (AgentError.is(thrown)) return thrown;
  const cause = summarize(thrown);
  return new AgentError({ ...told(codeOf(thrown), { file, contents, reason: cause.message }), cause });
}

/** True when another process is writing and it helps to wait. */
export function isBusy(thrown: unknown): boolean {
  const code = codeOf(thrown);
  return code === busy || code === locked;
}

/** True when what was read is not what SQLite has written. */
export function isCorrupt(thrown: unknown): boolean {
  const code = codeOf(thrown);
  return code === corrupt || code === notDatabase;
}

/** The result code of an error of SQLite; the code of the system for others. */
function codeOf(thrown: unknown): number | string | undefined {
  if (typeof thrown !== 'object' || thrown === null) return undefined;
  const { errcode, code } = thrown as { readonly errcode?: unknown; readonly code?: unknown };
  if (typeof errcode === 'number') return errcode & 0xff;
  return typeof code === 'string' ? code : undefined;
}

interface DatabaseLocation {
  readonly file: string;
  readonly contents: string;
  readonly reason: string;
}

function told(
  code: number | string | undefined,
  { file, contents, reason }: DatabaseLocation,
): DatabaseErrorFields {
  switch (code) {
    case busy:
    case locked:
      return environment('store_busy', `Another program keeps ${file} busy; try again.`, true);
    case full:
    case 'ENOSPC':
      return environment(
        'store_full',
        `There is no more room for ${file}: the disk is full or the store has reached its limit. Make room, or delete old ${contents}; nothing that was stored is lost.`,
      );
    case readOnly:
    case 'EROFS':
      return user(
        'store_readonly',
        `${file} cannot be written. This program needs to write to it, to its folder, and to the files beside it that end in -wal and -shm.`,
      );
    case corrupt:
    case notDatabase:
      return user('store_damaged', `${file} is damaged (${reason}). ${adviceOn(file, contents)}`);
    case cannotOpen:
      return unreachable(file, reason);
    case tooBig:
      return user(
        'too_large',
        'What was to be written is larger than the store can hold; nothing was written.',
      );
    case ioError:
      return environment('store_io', `Reading or writing ${file} failed (${reason}). Check the disk.`);
    default:
      // A code of the operating system, such as EACCES.
      if (typeof code === 'string' && /^E(?!RR_)/.test(code)) return unreachable(file, reason);
      return environment('store', `The store ${file} failed: ${reason}`);
  }
}

function adviceOn(file: string, contents: string): string {
  return contents === 'sessions'
    ? salvageAdvice(file)
    : 'Keep a copy of it and of the files beside it that end in -wal and -shm, and put a backup in its place.';
}

/** What to do about a damaged file of sessions. */
export function salvageAdvice(file: string): string {
  return `Copy the sessions that are intact into a new file: cobbler store salvage ${file}; or put a backup in its place.`;
}

function unreachable(file: string, reason: string): DatabaseErrorFields {
  return user(
    'store_unreachable',
    `${file} cannot be opened or made (${reason}). Check its folder and who may use it.`,
  );
}

function user(code: string, message: string): DatabaseErrorFields {
  return { kind: 'invalid', code, message };
}

function environment(code: string, message: string, retryable = false): DatabaseErrorFields {
  return { kind: 'agent', code, message, retryable };
}

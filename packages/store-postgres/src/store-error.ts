import type { ErrorData } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';

type StoreErrorFields = Pick<ErrorData, 'kind' | 'code' | 'message' | 'retryable'>;

/**
 * PostgreSQL error codes after which a retry can succeed without intervention:
 * https://www.postgresql.org/docs/15/errcodes-appendix.html
 */
const passing: ReadonlySet<string> = new Set([
  '40001', // serialization_failure
  '40P01', // deadlock_detected
  '53300', // too_many_connections
  '57P01', // admin_shutdown
  '57P02', // crash_shutdown
  '57P03', // cannot_connect_now
  '57P05', // idle_session_timeout
]);

/** Returns true if the connection failed rather than the statement, whose outcome is then unknown. */
export function isLost(thrown: unknown): boolean {
  if (AgentError.is(thrown)) return false;
  const code = codeOf(thrown);
  // Server error codes have five characters; those of the system and the client do not.
  if (code === undefined || !/^[0-9A-Z]{5}$/.test(code)) return true;
  return passing.has(code) || code.startsWith('08');
}

/**
 * Converts a database error to an AgentError that explains the problem and the fix. `place` must not contain the
 * password.
 */
export function storeError(thrown: unknown, place: string): AgentError {
  if (AgentError.is(thrown)) return thrown;
  const reason = thrown instanceof Error ? thrown.message : String(thrown);
  const code = codeOf(thrown);
  const cause = {
    name: thrown instanceof Error ? thrown.name : 'Error',
    message: reason,
    ...(code && { code }),
  };
  return new AgentError({ ...fieldsOf(thrown, code, place, reason), cause });
}

function fieldsOf(
  thrown: unknown,
  code: string | undefined,
  place: string,
  reason: string,
): StoreErrorFields {
  // The pool's error if no connection became free in time.
  if (reason === 'timeout exceeded when trying to connect') {
    return environment(
      'store_busy',
      `All connections of this process to ${place} were in use for too long. Try again, or raise the store's \`connections\` option.`,
      true,
    );
  }
  if (isLost(thrown)) {
    return environment(
      'store_unreachable',
      `Cannot reach the database ${place} (${reason}). Check that the database is running and that the connection settings are correct.`,
      true,
    );
  }
  if (code?.startsWith('28'))
    return { kind: 'auth', code: 'store_denied', message: deniedMessage(place, reason) };
  switch (code) {
    case '3D000':
      return user(
        'store_missing',
        `The database does not exist: ${place}. Create it, or correct the address.`,
      );
    case '25006':
      return user('store_readonly', `${place} is read-only (${reason}). Connect to the primary server.`);
    case '42501':
      return user(
        'store_readonly',
        `The database user for ${place} lacks permission (${reason}). Grant the user privileges on the schema.`,
      );
    case '53100':
    case '53200':
      return environment(
        'store_full',
        `${place} is out of disk space or memory (${reason}). Free disk space or add memory; stored data is not lost.`,
      );
    case '54000':
      return user(
        'too_large',
        `The data is larger than ${place} can store; nothing was written. Store large data elsewhere, and pass a reference to it.`,
      );
    case '57014':
    case '55P03':
      return environment('store_busy', `${place} is too busy (${reason}); try again.`, true);
    default:
      return environment('store', `The database ${place} failed: ${reason}`);
  }
}

function deniedMessage(place: string, reason: string): string {
  return `${place} rejected the user name or password (${reason}). Check the credentials.`;
}

function codeOf(thrown: unknown): string | undefined {
  if (typeof thrown !== 'object' || thrown === null) return undefined;
  const { code } = thrown as { readonly code?: unknown };
  return typeof code === 'string' ? code : undefined;
}

function user(code: string, message: string): StoreErrorFields {
  return { kind: 'invalid', code, message };
}

function environment(code: string, message: string, retryable = false): StoreErrorFields {
  return { kind: 'agent', code, message, retryable };
}

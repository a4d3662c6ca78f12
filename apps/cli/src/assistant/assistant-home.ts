import { randomBytes } from 'node:crypto';
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AgentError } from '@cobbler/agent';
import { cobblerHome } from '@cobbler/agent/node';
import type { Environment } from '../terminal/io.ts';
import { UsageError } from '../terminal/usage-error.ts';

/** Same value as in the Telegram module. It is repeated here because importing that module would load all of it. */
const secretPattern = /^[\w-]{1,256}$/;

/** The files of an assistant. Only the owner can read them. */
export interface AssistantHome {
  readonly folder: string;
  /** Database of messages, memories, the outbox and the logs of turns. */
  readonly chats: string;
  /** Database of unfinished turns. */
  readonly runs: string;
  /** The secret that Telegram sends with each webhook update. */
  readonly secret: string;
  /** Locked by the process that runs the assistant. */
  readonly lock: string;
}

/**
 * Returns the file paths of an assistant, and creates their directory if it is missing.
 * @throws UsageError if there is no home directory.
 */
export function assistantHome(env: Environment, place: string = ''): AssistantHome {
  const home = cobblerHome(env);
  if (home === undefined) throw UsageError.noHome('Messages');
  const folder = join(home, 'assistant', place);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return {
    folder,
    chats: join(folder, 'chats.db'),
    runs: join(folder, 'runs.db'),
    secret: join(folder, 'webhook-secret'),
    lock: join(folder, 'lock.db'),
  };
}

/** Locks the home while this process lives. Returns a function that unlocks it; undefined if another process has the lock. */
export function lockHome({ lock }: AssistantHome): (() => void) | undefined {
  closeSync(openSync(lock, 'a', 0o600));
  // The database is already loaded, so that Node prints no experimental warning.
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
  const db = new DatabaseSync(lock, { timeout: 200 });
  try {
    db.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
    return () => db.close();
  } catch {
    db.close();
    return undefined;
  }
}

/**
 * Returns the webhook secret: from the environment, otherwise the stored one, otherwise a new one, which it stores.
 * @throws UsageError for a secret that Telegram does not accept.
 */
export function webhookSecret({ secret: file }: AssistantHome, env: Environment): string {
  const given = env['TELEGRAM_WEBHOOK_SECRET']?.trim();
  if (given !== undefined && given !== '') return validSecret(given, 'TELEGRAM_WEBHOOK_SECRET');
  try {
    writeFileSync(file, `${randomBytes(32).toString('base64url')}\n`, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST')
      throw new UsageError(
        `Cannot write ${file}: ${AgentError.from(error).message}`,
        'Set COBBLER_HOME to a writable directory.',
      );
  }
  return validSecret(readFileSync(file, 'utf8').trim(), file);
}

function validSecret(secret: string, where: string): string {
  if (secretPattern.test(secret)) return secret;
  throw new UsageError(
    `The secret in ${where} is invalid.`,
    'Use 1 to 256 characters: letters, digits, _ and -. To generate a secret: openssl rand -hex 32',
  );
}

import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import type { SqliteStoreOptions } from '../../../src/node/index.ts';
import { sqliteStore } from '../../../src/node/index.ts';
import type { SessionStore } from '../../../src/store/store.ts';
import { AgentError } from '../../../src/values/errors.ts';

/** Creates a directory that is removed at the end of the test. */
export function testFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'cobbler-sqlite-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Returns the path of a store that does not exist yet. */
export function newFile(): string {
  return join(testFolder(), 'sessions.db');
}

/** Opens a store and closes it at the end of the test. */
export function open(file: string, options: SqliteStoreOptions = {}): SessionStore {
  const store = sqliteStore(file, options);
  onTestFinished(async () => await store.close());
  return store;
}

/** Returns the lock files of processes that use a store. */
export function locks(file: string): string[] {
  return readdirSync(dirname(file)).filter((name) => name.includes('-owner-'));
}

/** Changes the database directly, without the store. */
export function edit(file: string, sql: string): void {
  const db = new DatabaseSync(file, { timeout: 5000 });
  db.exec(sql);
  db.close();
}

/** Returns code and message of the AgentError of an attempt; fails if it throws none. */
export async function refusal(
  attempt: () => unknown,
): Promise<{ code: string | undefined; message: string }> {
  try {
    await attempt();
  } catch (error) {
    if (AgentError.is(error)) return { code: error.code, message: error.message };
    throw error;
  }
  throw new Error('The operation was not rejected.');
}

/** A process that uses a store, with the lines that it prints. */
export interface StoreChild {
  readonly process: ChildProcess;
  /** Returns the next line that the process prints. */
  line(): Promise<string>;
  /** Kills the process and waits for its exit. */
  kill(): Promise<void>;
}

/** Starts `store-child.ts` with these arguments and kills it at the end of the test. */
export function storeChild(...args: string[]): StoreChild {
  return childOf({}, args);
}

/**
 * Starts a child process without access to files of other users, even if the tests run as root.
 * The files and the directory become its own, so that their owner permissions apply. The child
 * drops its privileges only after loading: Node and the sources may be in a directory that only
 * their owner can enter.
 */
export function plainChild(folder: string, ...args: string[]): StoreChild {
  if (process.getuid?.() !== 0) return storeChild(...args);
  const nobody = 65_534;
  for (const name of readdirSync(folder, { recursive: true }))
    chownSync(join(folder, String(name)), nobody, nobody);
  chownSync(folder, nobody, nobody);
  return childOf({ COBBLER_TEST_USER: String(nobody) }, args);
}

function childOf(env: Readonly<Record<string, string>>, args: readonly string[]): StoreChild {
  const script = fileURLToPath(new URL('store-child.ts', import.meta.url));
  const flags = ['--conditions=@cobbler/source', '--disable-warning=ExperimentalWarning', '--expose-gc'];
  const child = spawn(process.execPath, [...flags, script, ...args], {
    env: { ...process.env, ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const gone = once(child, 'exit');
  const kill = async () => {
    child.kill('SIGKILL');
    await gone;
  };
  onTestFinished(kill);
  return { process: child, line: async () => (await lines.next()).value ?? '', kill };
}

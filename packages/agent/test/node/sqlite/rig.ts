import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import type { SqliteStoreOptions } from '../../../src/node/index.ts';
import { sqliteStore } from '../../../src/node/index.ts';
import type { SessionStore } from '../../../src/store/store.ts';
import { AgentError } from '../../../src/values/errors.ts';

/** A folder of one test, removed at its end. */
export function testFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'cobbler-sqlite-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The path of a store that is not there yet. */
export function newFile(): string {
  return join(testFolder(), 'sessions.db');
}

/** Opens a store that is closed at the end of the test. */
export function open(file: string, options: SqliteStoreOptions = {}): SessionStore {
  const store = sqliteStore(file, options);
  onTestFinished(async () => await store.close());
  return store;
}

/** Does something to the database behind the store's back. */
export function edit(file: string, sql: string): void {
  const db = new DatabaseSync(file, { timeout: 5000 });
  db.exec(sql);
  db.close();
}

/** What an attempt is refused with, as code and message; fails when it is not refused by an AgentError. */
export async function refusal(
  attempt: () => unknown,
): Promise<{ code: string | undefined; message: string }> {
  try {
    await attempt();
  } catch (error) {
    if (AgentError.is(error)) return { code: error.code, message: error.message };
    throw error;
  }
  throw new Error('It was not refused.');
}

/** A process that uses a store, and the lines that it prints. */
export interface StoreChild {
  readonly process: ChildProcess;
  /** The next line it prints. */
  line(): Promise<string>;
  /** Ends it, however it is, and waits until it is gone. */
  kill(): Promise<void>;
}

/** Starts `store-child.ts` with these arguments; it is killed at the end of the test. */
export function storeChild(...args: string[]): StoreChild {
  return childOf({}, args);
}

/**
 * The same without rights on what belongs to others, also where the tests have all rights. Files and folder become
 * the child's own, so that what they allow their owner counts. The child gives its rights up by itself, once it has
 * been loaded: Node and the sources may lie in a folder that only their owner can enter.
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

import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cobblerHome } from '@cobbler/agent/node';
import type { Environment } from '../terminal/io.ts';
import { UsageError } from '../terminal/usage-error.ts';

/** The files of a server. */
export interface ServerHome {
  /** The session file, which the command line uses too. */
  readonly store: string;
  /** The session file of servers of earlier versions. */
  readonly earlier: string;
  readonly tokens: string;
  /** Contains the address of the server while it is running. */
  readonly running: string;
}

/**
 * Returns the file paths of a server.
 * @throws UsageError if there is no home directory.
 */
export function serverHome(env: Environment): ServerHome {
  const home = cobblerHome(env);
  if (home === undefined) throw UsageError.noHome('Sessions');
  return {
    store: join(home, 'sessions.db'),
    earlier: join(home, 'server.db'),
    tokens: join(home, 'server-tokens.json'),
    running: join(home, 'server.json'),
  };
}

/** A server that is running, or was running when its process crashed. */
export interface RunningServer {
  readonly pid: number;
  readonly url: string;
}

/** Records the address of the server. Returns a function that removes the record. */
export function noteRunning(path: string, server: RunningServer): () => void {
  writeFileSync(path, `${JSON.stringify(server)}\n`, { mode: 0o600 });
  return () => {
    if (readRunning(path)?.pid === server.pid) rmSync(path, { force: true });
  };
}

/** Returns the last recorded server, if its process is alive. */
export function readRunning(path: string): RunningServer | undefined {
  try {
    const { pid, url } = JSON.parse(readFileSync(path, 'utf8')) as Partial<RunningServer>;
    if (typeof pid !== 'number' || typeof url !== 'string') return undefined;
    process.kill(pid, 0);
    return { pid, url };
  } catch {
    return undefined;
  }
}

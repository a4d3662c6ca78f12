import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cobblerHome } from '@cobbler/agent/node';
import type { Environment } from '../terminal/io.ts';
import { UsageError } from '../terminal/usage-error.ts';

/** The port of a server that was given none. */
export const defaultPort = 4370;

/** Where a server keeps what outlives it. */
export interface ServerHome {
  /** Its sessions. */
  readonly store: string;
  readonly tokens: string;
  /** Says where the server is while it runs. */
  readonly running: string;
}

/** @throws UsageError when there is no home directory. */
export function serverHome(env: Environment): ServerHome {
  const home = cobblerHome(env);
  if (home === undefined) {
    throw new UsageError('There is no home directory to store sessions in.', 'Set it: COBBLER_HOME=DIR');
  }
  return {
    store: join(home, 'server.db'),
    tokens: join(home, 'server-tokens.json'),
    running: join(home, 'server.json'),
  };
}

/** A server that runs, or ran when its process died. */
export interface RunningServer {
  readonly pid: number;
  readonly url: string;
}

/** Notes where the server is. Returns what takes the note back. */
export function noteRunning(path: string, server: RunningServer): () => void {
  writeFileSync(path, `${JSON.stringify(server)}\n`, { mode: 0o600 });
  return () => {
    if (readRunning(path)?.pid === server.pid) rmSync(path, { force: true });
  };
}

/** The server that was noted last, if its process is alive. */
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

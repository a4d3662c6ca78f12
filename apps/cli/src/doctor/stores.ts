import { existsSync } from 'node:fs';
import type { StoreReport } from '@cobbler/agent/node';
import { serverHome } from '../server/server-home.ts';
import { sessionFile } from '../session/session-home.ts';
import { plural } from '../terminal/format.ts';
import type { Io } from '../terminal/io.ts';

/** Returns the existing session files of the home directory. */
export function storeFiles(io: Io): string[] {
  const own = sessionFile(io.env);
  if (own === undefined) return [];
  return [own, serverHome(io.env).earlier].filter((file) => existsSync(file));
}

/** Returns the size of a store and the number of damaged sessions in words. */
export function countText({ sessions }: StoreReport): string {
  const damaged = sessions.filter(({ problem }) => problem !== undefined).length;
  const events = sessions.reduce((sum, session) => sum + session.events, 0);
  const counts = `${plural(sessions.length, 'session')}, ${plural(events, 'event')}`;
  return damaged === 0 ? counts : `${counts}, ${plural(damaged, 'damaged session')}`;
}

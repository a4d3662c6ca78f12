import { existsSync } from 'node:fs';
import { readSettings } from '../config/settings.ts';
import { sessionsIn, shortId } from '../session/find-session.ts';
import { openSessions } from '../session/session-home.ts';
import { visible } from '../terminal/escape.ts';
import type { Io } from '../terminal/io.ts';
import { UsageError } from '../terminal/usage-error.ts';
import { tellEnd } from './job.ts';
import { detachJob } from './start-job.ts';

/**
 * Runs `cobbler resume --all`: continues every interrupted job in a process of its own, and reports the ends that a job could
 * not report before its process died. Returns the exit code: 1 if a job did not start.
 */
export async function resumeJobs(operands: readonly string[], io: Io): Promise<number> {
  if (operands.length > 0)
    throw new UsageError('--all takes no session and no prompt.', 'Remove them, or remove --all.');
  const sessions = await openSessions(io.env);
  const { file } = await readSettings(io.env);
  let code = 0;
  let resumed = 0;
  try {
    // A job that starts changes its place in the list.
    for (const { id, status, events } of await Array.fromAsync(sessionsIn(sessions, undefined))) {
      const job = sessions.notes.read(id)?.job;
      if (job === undefined || status === 'running') continue;
      if (status !== 'interrupted') {
        if (job.told !== events) await tellEnd(sessions, id, file.values, io);
        continue;
      }
      resumed += 1;
      const args = ['resume', '--all', '--job', id];
      const start = { args, cwd: job.cwd, readsInput: false };
      const isThere = existsSync(job.cwd);
      const failed = isThere ? await detachJob(sessions, id, start, io) : 1;
      const why = isThere ? '' : `: its directory ${job.cwd} no longer exists`;
      const end = failed === undefined ? 'continues in the background' : `was not continued${why}`;
      io.stderr.write(`Session ${shortId(id)} ${visible(end)}.\n`);
      if (failed !== undefined) code = 1;
    }
    if (resumed === 0) io.stderr.write('No job was interrupted.\n');
    return code;
  } finally {
    await sessions.store.close();
  }
}

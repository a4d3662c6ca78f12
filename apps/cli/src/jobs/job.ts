import { existsSync, rmSync } from 'node:fs';
import type { FileConfig } from '@cobbler/agent/node';
import type { RawOptions } from '../config/run-flags.ts';
import { notificationOf, notifyUser } from '../notify/notification.ts';
import type { ChosenSession } from '../run/session-choice.ts';
import type { CliSessions } from '../session/session-home.ts';
import type { SessionMetadata } from '../session/session-metadata.ts';
import { visible } from '../terminal/escape.ts';
import type { Io } from '../terminal/io.ts';

/** Options that a job does not keep: they choose its session, or have had their effect. */
const ownOptions = ['session', 'continue', 'fork', 'background', 'job', 'resumes', 'attach', 'more', 'all'];

/** Time between two looks for a request to stop, in milliseconds. */
const lookMs = 500;

/**
 * Marks the session of a run as a job. Returns a function that calls back when another process asks the job to stop; what that
 * returns ends the watch.
 */
export function startMark(
  { sessions: { notes }, id }: ChosenSession,
  note: SessionMetadata,
  options: RawOptions,
  { clock, cwd }: Pick<Io, 'clock' | 'cwd'>,
): (stop: () => void) => () => void {
  const kept = Object.entries(options).filter(([name]) => !ownOptions.includes(name));
  notes.write(id, { ...note, job: { cwd: cwd(), options: Object.fromEntries(kept) } });
  const path = notes.path(id, 'stop');
  // A request to an earlier run.
  rmSync(path, { force: true });
  return (stop) => {
    let cancel = (): void => {};
    const look = (): void => {
      if (existsSync(path)) stop();
      else cancel = clock.after(lookMs, look);
    };
    look();
    return () => {
      cancel();
      rmSync(path, { force: true });
    };
  };
}

/** Reports the end of a session's last run to its user, and records for a job that this was done. */
export async function tellEnd(
  sessions: CliSessions,
  id: string,
  { notify }: Pick<FileConfig, 'notify'>,
  io: Pick<Io, 'env' | 'stderr'>,
): Promise<void> {
  const notification = await notificationOf(sessions, id);
  if (notification === undefined) return;
  for (const problem of await notifyUser(notify, notification, io.env))
    io.stderr.write(`cobbler: ${visible(problem)}\n`);
  const note = sessions.notes.read(id);
  const told = (await sessions.store.info(id))?.events ?? 0;
  if (note?.job !== undefined) sessions.notes.write(id, { ...note, job: { ...note.job, told } });
}

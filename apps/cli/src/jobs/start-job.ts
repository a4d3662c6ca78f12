import { existsSync, readFileSync, statSync } from 'node:fs';
import { systemRuntime } from '@cobbler/agent';
import { workFolder } from '../config/directory.ts';
import type { RawOptions } from '../config/run-flags.ts';
import { readRunFlags } from '../config/run-flags.ts';
import { readSettings } from '../config/settings.ts';
import { findSession, newestSession, sessionsIn, shortId } from '../session/find-session.ts';
import type { CliSessions } from '../session/session-home.ts';
import { openSessions } from '../session/session-home.ts';
import { visible } from '../terminal/escape.ts';
import type { DetachedStart, Io } from '../terminal/io.ts';
import { withProgramName } from '../terminal/program-name.ts';
import { UsageError } from '../terminal/usage-error.ts';
import { tellEnd } from './job.ts';

/** Time between two looks whether a job has started, in milliseconds. */
const lookMs = 50;

/** Runs `cobbler run --background`: starts the task in a process of its own. Returns the exit code. */
export async function startJob(options: RawOptions, io: Io): Promise<number> {
  const { session, dir, keeps } = readRunFlags(options);
  const other = ['fork', 'record', 'replay'].find((name) => options[name] !== undefined);
  const refused = other === undefined ? keeps === false && '--no-session' : `--${other}`;
  if (refused)
    throw new UsageError(`--background and ${refused} cannot be used together.`, 'Remove one of them.');
  const sessions = await openSessions(io.env);
  try {
    const folder = workFolder(dir, io);
    const info =
      session &&
      (session.id === undefined
        ? await newestSession(sessions, folder)
        : await findSession(sessions.store, session.id));
    const id = info?.id ?? systemRuntime.id();
    const end = io.args.indexOf('--');
    const own = io.args.slice(0, end === -1 ? undefined : end).filter((arg) => arg !== '--background');
    const args = [...own, '--job', id, ...(end === -1 ? [] : io.args.slice(end))];
    const failed = await detachJob(sessions, id, { args, cwd: io.cwd(), readsInput: true }, io);
    if (failed !== undefined) return failed;
    const name = shortId(id);
    const lines = [
      `Session ${name} continues in the background, even after you close this terminal.`,
      `  cobbler jobs show ${name}   show what it does`,
      `  cobbler jobs stop ${name}   stop it`,
      `  cobbler resume ${name}      continue it here when it waits for you or has stopped`,
    ];
    io.stderr.write(`${withProgramName(lines.join('\n'), io.env)}\n`);
    io.stdout.write(`${id}\n`);
    return 0;
  } finally {
    await sessions.store.close();
  }
}

/**
 * Starts a job and waits until it has its session. Otherwise prints what it said, and returns its exit code; undefined if it
 * has started.
 */
export async function detachJob(
  { store, notes }: CliSessions,
  id: string,
  start: Omit<DetachedStart, 'log'>,
  io: Io,
): Promise<number | undefined> {
  const log = notes.path(id, 'log');
  const logged = statSync(log, { throwIfNoEntry: false })?.size ?? 0;
  const before = (await store.info(id))?.events ?? 0;
  let ended: number | undefined;
  void io.detach({ ...start, log }).then((code) => {
    ended = code;
  });
  for (;;) {
    const isOver = ended !== undefined;
    const info = await store.info(id);
    if (info?.status === 'running' || (info?.events ?? 0) > before) return undefined;
    if (isOver) {
      io.stderr.write(visible(readFileSync(log).subarray(logged).toString()));
      return ended;
    }
    await new Promise<void>((resolve) => void io.clock.after(lookMs, resolve));
  }
}

/**
 * Runs `cobbler resume --all`: continues every interrupted job in a process of its own, and reports the ends that a job could
 * not report before its process died. Returns the exit code: 1 if a job did not start.
 */
export async function resumeJobs(operands: readonly string[], io: Io): Promise<number> {
  if (operands.length > 0)
    throw new UsageError('--all cannot be used with a session or a prompt.', 'Remove them, or remove --all.');
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
      const isThere = existsSync(job.cwd);
      const failed = isThere
        ? await detachJob(sessions, id, { args, cwd: job.cwd, readsInput: false }, io)
        : 1;
      const why = isThere ? '' : `: its directory ${job.cwd} no longer exists`;
      const words = failed === undefined ? 'continues in the background' : `was not continued${why}`;
      io.stderr.write(`Session ${shortId(id)} ${visible(words)}.\n`);
      if (failed !== undefined) code = 1;
    }
    if (resumed === 0) io.stderr.write('No job was interrupted.\n');
    return code;
  } finally {
    await sessions.store.close();
  }
}

import { readFileSync, statSync } from 'node:fs';
import { systemRuntime } from '@cobbler/agent';
import { workFolder } from '../config/directory.ts';
import type { RawOptions } from '../config/run-flags.ts';
import { readRunFlags } from '../config/run-flags.ts';
import { findSession, newestSession, shortId } from '../session/find-session.ts';
import type { CliSessions } from '../session/session-home.ts';
import { openSessions } from '../session/session-home.ts';
import { visible } from '../terminal/escape.ts';
import type { DetachedStart, Io } from '../terminal/io.ts';
import { withProgramName } from '../terminal/program-name.ts';
import { UsageError } from '../terminal/usage-error.ts';

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
      `Session ${name} continues in the background, also after you close this terminal.`,
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
  void io.detach({ ...start, log }).ended.then((code) => {
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

import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import type { SessionInfo } from '@cobbler/agent';
import { approvalText } from '@cobbler/agent/events';
import { shortPath } from '../config/directory.ts';
import type { RawOptions } from '../config/run-flags.ts';
import { exitCodeOf } from '../run/task.ts';
import { findSession, sessionsIn, shortId } from '../session/find-session.ts';
import type { CliSessions } from '../session/session-home.ts';
import { openSessions } from '../session/session-home.ts';
import { sessionFacts, sessionTable } from '../session/session-lines.ts';
import { visible } from '../terminal/escape.ts';
import { parseCount } from '../terminal/format.ts';
import type { Io } from '../terminal/io.ts';
import { optionValue } from '../terminal/option-value.ts';
import { withProgramName } from '../terminal/program-name.ts';
import { screenFor } from '../terminal/screen.ts';
import { styleFor } from '../terminal/style.ts';
import { didYouMean } from '../terminal/suggestion.ts';
import { UsageError } from '../terminal/usage-error.ts';
import { Ledger } from '../view/ledger.ts';

type Action = (sessions: CliSessions, job: SessionInfo, io: Io, options: RawOptions) => Promise<number>;

const actions: Readonly<Record<string, Action>> = { show, wait, stop };

/** Runs `cobbler jobs`: lists the sessions whose last run was started in the background, or acts on one. Returns the exit code. */
export async function jobs([action, given]: readonly string[], options: RawOptions, io: Io): Promise<number> {
  const act = action !== undefined && Object.hasOwn(actions, action) ? actions[action] : undefined;
  if (action !== undefined && act === undefined)
    throw new UsageError(
      `jobs has no action ${JSON.stringify(action)}.${didYouMean(action, Object.keys(actions))}`,
      'See: cobbler help jobs',
    );
  if (act !== undefined && given === undefined)
    throw new UsageError(
      'The job id is missing.',
      `Use: cobbler jobs ${action} ID. List the jobs: cobbler jobs`,
    );
  const sessions = await openSessions(io.env);
  try {
    if (act === undefined || given === undefined) return await list(sessions, options, io);
    const info = await findSession(sessions.store, given);
    if (sessions.notes.read(info.id)?.job === undefined)
      throw new UsageError(
        `Session ${shortId(info.id)} does not run in the background.`,
        'List the jobs: cobbler jobs',
      );
    return await act(sessions, info, io, options);
  } finally {
    await sessions.store.close();
  }
}

async function list(sessions: CliSessions, options: RawOptions, io: Io): Promise<number> {
  const limit = optionValue(options['limit'], '--limit', parseCount, 'For example: --limit 50') ?? 20;
  const rows: { info: SessionInfo; folder: string }[] = [];
  for await (const info of sessionsIn(sessions, undefined)) {
    const { job, folder = '' } = sessions.notes.read(info.id) ?? {};
    if (job !== undefined) rows.push({ info, folder });
    if (rows.length === limit) break;
  }
  const screen = screenFor(io.stdout, io.env);
  const shown = rows.map(({ info, folder }) => ({ info, folder: shortPath(folder, io.env) }));
  const lines =
    options['json'] === true
      ? rows.map(({ info, folder }) => JSON.stringify({ ...info, folder }))
      : sessionTable(shown, Date.now(), styleFor(screen), screen.tty ? screen.columns() : 200);
  io.stdout.write(lines.map((line) => `${line}\n`).join(''));
  if (rows.length === 0)
    io.stderr.write(withProgramName('No jobs yet. Start one: cobbler run --background "..."\n', io.env));
  return 0;
}

async function show(
  { store, notes }: CliSessions,
  info: SessionInfo,
  io: Io,
  { json }: RawOptions,
): Promise<number> {
  const log = notes.path(info.id, 'log');
  const { folder: full = '' } = notes.read(info.id) ?? {};
  const ledger = new Ledger();
  for (const event of await store.read(info.id)) ledger.handle(event);
  const open = [...ledger.openApprovals.values()];
  if (json === true) {
    const waitsFor = open.map(({ toolName, arguments: given }) => ({ toolName, arguments: given }));
    io.stdout.write(`${JSON.stringify({ ...info, folder: full, output: log, waitsFor })}\n`);
    return 0;
  }
  const answer = withProgramName(`to answer: cobbler resume ${shortId(info.id)}`, io.env);
  const waiting = open.map((call) => `waits for you: ${approvalText(call)}`);
  const facts = sessionFacts(
    { info, folder: shortPath(full, io.env) },
    Date.now(),
    styleFor(screenFor(io.stdout, io.env)),
  );
  const lines = [...facts, `output   ${visible(log)}`, ...waiting, ...(open.length > 0 ? [answer] : []), ''];
  io.stdout.write(`${lines.join('\n')}\n${outputOf(log, info, ledger, io)}`);
  return 0;
}

/** Time after the last output of a job in which its own last events are stored, in milliseconds. */
const lastEventsMs = 2000;

/** Returns the output of a job; its last answer instead if the session was continued outside of the job. */
function outputOf(
  log: string,
  { id, status, updatedAt }: SessionInfo,
  { lastAnswer }: Ledger,
  { env }: Io,
): string {
  if (!existsSync(log)) return '';
  const isBehind = statSync(log).mtimeMs + lastEventsMs < Date.parse(updatedAt);
  if (status === 'running' || !isBehind) return visible(readFileSync(log, 'utf8'));
  const where = withProgramName(`cobbler sessions show ${shortId(id)}`, env);
  return `${visible(lastAnswer)}\n\nThe session was continued outside of the job. All of it: ${where}\n`;
}

/** Time between two looks at a job, and the longest time in which one stops, in milliseconds. */
const [lookMs, stopMs] = [200, 10_000];

/** Waits until a job has ended, or for a time. Returns what is then known about it. */
async function ended({ store }: CliSessions, id: string, io: Io, forMs = Infinity): Promise<SessionInfo> {
  const until = io.clock.now() + forMs;
  for (;;) {
    const info = await findSession(store, id);
    if (info.status !== 'running' || io.clock.now() >= until) return info;
    await new Promise<void>((resolve) => void io.clock.after(lookMs, resolve));
  }
}

async function wait(sessions: CliSessions, { id }: SessionInfo, io: Io): Promise<number> {
  const { status, events } = await ended(sessions, id, io);
  io.stderr.write(`Session ${shortId(id)}: ${status}\n`);
  const [end] = await sessions.store.read(id, events - 1);
  return end?.type === 'finished' ? exitCodeOf(end, false) : 1;
}

async function stop(sessions: CliSessions, { id, status }: SessionInfo, io: Io): Promise<number> {
  const { notes } = sessions;
  const name = shortId(id);
  if (status === 'interrupted') {
    notes.copyUnmarked(id, id);
    io.stderr.write(`Session ${name} was interrupted. resume --all will not continue it.\n`);
    return 0;
  }
  if (status === 'running') writeFileSync(notes.path(id, 'stop'), '', { mode: 0o600 });
  const info = await ended(sessions, id, io, stopMs);
  io.stderr.write(`Session ${name}: ${info.status}\n`);
  if (info.status !== 'running') return 0;
  throw new UsageError(
    `Session ${name} has not stopped after ${stopMs / 1000} s.`,
    `To find its process, run cobbler resume ${name}: the error names the process.`,
  );
}

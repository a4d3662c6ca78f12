import type { SessionInfo } from '@cobbler/agent';
import { workFolder } from '../config/directory.ts';
import type { RawOptions } from '../config/run-flags.ts';
import { sessionsIn } from '../session/find-session.ts';
import type { CliSessions } from '../session/session-home.ts';
import { openNotes, openSessions } from '../session/session-home.ts';
import { sessionTable } from '../session/session-lines.ts';
import type { Io, Key } from '../terminal/io.ts';
import { screenFor } from '../terminal/screen.ts';
import { styleFor } from '../terminal/style.ts';
import { run } from './run.ts';

/** Runs `cobbler resume [id] [prompt...]`: continues a session. Returns the exit code. */
export async function resume(operands: readonly string[], options: RawOptions, io: Io): Promise<number> {
  const [id, ...words] = operands;
  const { all, job } = options;
  if (all === true && job === undefined)
    return await (await import('../jobs/start-job.ts')).resumeJobs(operands, io);
  if (typeof job === 'string') {
    // With both, the job continues with the options of its start.
    const own = all === true ? openNotes(io.env).read(job)?.job?.options : options;
    return await run(words, { ...own, job, resumes: true }, io);
  }
  const picked = id ?? (await pick(options, io));
  if (picked === 130 || picked === 0) return picked;
  const which = picked === undefined ? { continue: true } : { session: picked };
  return await run(words, { ...options, ...which, resumes: true }, io);
}

/** Returns the id that the user chooses, or an exit code; undefined if there is no session, which `run` then explains. */
async function pick(options: RawOptions, io: Io): Promise<string | 0 | 130 | undefined> {
  const dir = typeof options['dir'] === 'string' ? options['dir'] : undefined;
  const sessions = await openSessions(io.env);
  try {
    const picked = await pickSession(sessions, workFolder(dir, io), io);
    if (picked === 'interrupt') return 130;
    if (picked !== 'none') return picked?.id;
    io.stderr.write('No session was chosen.\n');
    return 0;
  } finally {
    await sessions.store.close();
  }
}

/** One per digit key. */
const maxShown = 9;

/** The user's choice: a session, none, or to exit immediately. */
type PickResult = SessionInfo | 'none' | 'interrupt';

/**
 * Lists the latest sessions of a directory and lets the user choose one by number. If there is only one session, or
 * no terminal, it returns the latest; undefined if there is none.
 */
export async function pickSession(
  sessions: CliSessions,
  folder: string,
  io: Io,
): Promise<PickResult | undefined> {
  const found: SessionInfo[] = [];
  for await (const info of sessionsIn(sessions, folder)) {
    found.push(info);
    if (found.length === maxShown) break;
  }
  if (found.length < 2 || !io.stdin.tty || !io.stderr.tty) return found[0];
  const keyboard = io.openKeyboard();
  if (keyboard === undefined) return found[0];
  show(found, io);
  try {
    return await new Promise<PickResult>((resolve) => {
      keyboard.listen((key) => {
        const picked = pickResultOf(key, found);
        if (picked !== undefined) resolve(picked);
      });
    });
  } finally {
    keyboard.close();
    io.stderr.write('\n');
  }
}

function show(found: readonly SessionInfo[], io: Io): void {
  const style = styleFor(screenFor(io.stderr, io.env));
  const columns = io.stderr.columns() ?? 80;
  const rows = found.map((info) => ({ info }));
  const table = sessionTable(rows, Date.now(), style, columns - 3);
  const lines = table.map((line, index) => `${style.bold(String(index + 1))}  ${line}`);
  const question = `Which session do you want to continue? 1-${found.length}, Enter for 1, Esc for none `;
  io.stderr.write(`${lines.join('\n')}\n${question}`);
}

function pickResultOf(key: Key, found: readonly SessionInfo[]): PickResult | undefined {
  if (key.type === 'interrupt') return 'interrupt';
  if (key.type === 'escape') return 'none';
  if (key.type === 'enter') return found[0];
  return key.type === 'text' ? found[Number(key.text) - 1] : undefined;
}

import { workFolder } from '../config/directory.ts';
import { openSessions } from '../session/session-home.ts';
import type { Io } from '../terminal/io.ts';
import { run } from './run.ts';
import { pickSession } from './session-picker.ts';

/** `cobbler resume [id] [prompt...]`: continues a session. Returns the exit code. */
export async function resume(
  operands: readonly string[],
  options: Readonly<Record<string, unknown>>,
  io: Io,
): Promise<number> {
  const [id, ...words] = operands;
  const picked = id ?? (await pick(options, io));
  if (picked === 130 || picked === 0) return picked;
  const which = picked === undefined ? { continue: true } : { session: picked };
  return await run(words, { ...options, ...which, resumes: true }, io);
}

/** The id that the user chooses; undefined if there is none to choose, which `run` then explains; or an exit code. */
async function pick(
  options: Readonly<Record<string, unknown>>,
  io: Io,
): Promise<string | 0 | 130 | undefined> {
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

import type { SessionStatus } from '@cobbler/agent';
import { AgentError, forkSession, systemRuntime } from '@cobbler/agent';
import type { RunFlags, SessionChoice } from '../config/run-flags.ts';
import { findSession, newestIn, shortId } from '../session/find-session.ts';
import type { Sessions } from '../session/session-home.ts';
import { openSessions, sessionFile } from '../session/session-home.ts';
import type { SessionMetadata } from '../session/session-metadata.ts';
import { visible } from '../terminal/escape.ts';
import type { Io } from '../terminal/io.ts';
import { UsageError } from '../terminal/usage-error.ts';

/** The session of a run, settled before it begins. */
export interface ChosenSession {
  readonly sessions: Sessions;
  readonly id: string;
  /** Where it stands; absent for a new one. */
  readonly status?: SessionStatus;
  /** How it was begun; absent for a new one. */
  readonly note?: SessionMetadata;
}

/**
 * Opens the store and finds the session to go on with, or makes an id for a new one. Nothing when none is to be kept,
 * or cannot be: then one line says why, and the run goes on without.
 * @throws UsageError when a session was named that cannot be gone on with.
 */
export async function chooseSession(
  flags: RunFlags,
  isKept: boolean,
  folder: string,
  io: Io,
): Promise<ChosenSession | undefined> {
  if (flags.session === undefined && (!isKept || sessionFile(io.env) === undefined)) return undefined;
  const sessions = await opened(flags, io);
  if (sessions === undefined) return undefined;
  try {
    if (flags.session === undefined) return { sessions, id: systemRuntime.id() };
    return await oldSession(sessions, flags.session, folder);
  } catch (error) {
    await sessions.store.close();
    throw error;
  }
}

async function opened(flags: RunFlags, io: Io): Promise<Sessions | undefined> {
  try {
    return await openSessions(io.env);
  } catch (error) {
    if (flags.session !== undefined || !AgentError.is(error)) throw error;
    io.stderr.write(`cobbler: this run is not kept. ${visible(error.message)}\n`);
    return undefined;
  }
}

async function oldSession(sessions: Sessions, choice: SessionChoice, folder: string): Promise<ChosenSession> {
  const { store, notes } = sessions;
  const info =
    choice.id === undefined ? await newestIn(sessions, folder) : await findSession(store, choice.id);
  const found = notes.read(info.id);
  const note = found === undefined ? {} : { note: found };
  if (!choice.forks) return { sessions, id: info.id, status: info.status, ...note };
  const id = systemRuntime.id();
  await forkSession(store, { from: info.id, to: id }, systemRuntime);
  return { sessions, id, status: info.status, ...note };
}

/**
 * What a session was begun with, where the command line says nothing else. An address goes with its model only.
 */
export function flagsWithNote(flags: RunFlags, note: SessionMetadata | undefined): RunFlags {
  if (note === undefined) return flags;
  const { folder, model, baseURL, api } = note;
  const isSameModel = flags.model === undefined && model !== undefined;
  return {
    dir: folder,
    ...(isSameModel && { model }),
    ...(isSameModel && baseURL !== undefined && { baseURL }),
    ...(isSameModel && (api === 'responses' || api === 'chat') && { api }),
    ...flags,
  };
}

/**
 * @throws UsageError when a session is to go on by itself that has come to its end.
 */
export function checkGoesOn({ id, status }: ChosenSession): void {
  if (status !== 'complete' && status !== 'refusal' && status !== 'max_tokens') return;
  const name = shortId(id);
  throw new UsageError(
    `Session ${name} has come to its end (${status.replace('_', ' ')}): nothing is left to go on with.`,
    `Say what is next: cobbler resume ${name} "..."`,
  );
}

import type { SessionStatus } from '@cobbler/agent';
import { AgentError, systemRuntime } from '@cobbler/agent';
import { forkSession } from '@cobbler/agent/fork';
import { defined } from '@cobbler/agent/values';
import type { RunFlags, SessionChoice } from '../config/run-flags.ts';
import { findSession, newestSession, shortId } from '../session/find-session.ts';
import type { CliSessions } from '../session/session-home.ts';
import { openSessions, sessionFile } from '../session/session-home.ts';
import type { SessionMetadata } from '../session/session-metadata.ts';
import { visible } from '../terminal/escape.ts';
import type { Io } from '../terminal/io.ts';
import { UsageError } from '../terminal/usage-error.ts';

/** The session of a run. */
export interface ChosenSession {
  readonly sessions: CliSessions;
  readonly id: string;
  /** The status of the session; absent for a new one. */
  readonly status?: SessionStatus;
  /** The settings from its start; absent for a new one. */
  readonly note?: SessionMetadata;
}

/**
 * Opens the store and finds the session to continue, or creates an id for a new one. Returns undefined if no session
 * is stored, or if the store cannot be used. In that case it prints one line with the reason, and the run continues
 * without a session.
 * @throws UsageError if a named session cannot continue.
 */
export async function chooseSession(
  flags: RunFlags,
  isKept: boolean,
  folder: string,
  io: Io,
): Promise<ChosenSession | undefined> {
  if (flags.job !== undefined) return await jobSession(flags.job, io);
  if (flags.session === undefined && (!isKept || sessionFile(io.env) === undefined)) return undefined;
  const sessions = await openOrReport(flags, io);
  if (sessions === undefined) return undefined;
  try {
    if (flags.session === undefined) return { sessions, id: systemRuntime.id() };
    return await oldSession(sessions, flags.session, folder);
  } catch (error) {
    await sessions.store.close();
    throw error;
  }
}

/** A job is not started without its session. */
async function jobSession(id: string, io: Io): Promise<ChosenSession> {
  const sessions = await openSessions(io.env);
  const info = await sessions.store.info(id);
  return { sessions, id, ...defined({ status: info?.status, note: info && sessions.notes.read(id) }) };
}

async function openOrReport(flags: RunFlags, io: Io): Promise<CliSessions | undefined> {
  try {
    return await openSessions(io.env);
  } catch (error) {
    if (flags.session !== undefined || !AgentError.is(error)) throw error;
    io.stderr.write(`cobbler: this run will not be saved. ${visible(error.message)}\n`);
    return undefined;
  }
}

async function oldSession(
  sessions: CliSessions,
  choice: SessionChoice,
  folder: string,
): Promise<ChosenSession> {
  const { store, notes } = sessions;
  const info =
    choice.id === undefined ? await newestSession(sessions, folder) : await findSession(store, choice.id);
  const found = notes.read(info.id);
  const note = found === undefined ? {} : { note: found };
  if (!choice.forks) return { sessions, id: info.id, status: info.status, ...note };
  const id = systemRuntime.id();
  await forkSession(store, { from: info.id, to: id }, systemRuntime);
  return { sessions, id, status: info.status, ...note };
}

/** Adds the settings of the session's start, unless the command line sets others. A stored address needs its model. */
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

/** @throws UsageError if a session without a prompt has already ended. */
export function checkResumable({ id, status }: ChosenSession): void {
  if (status !== 'complete' && status !== 'refusal' && status !== 'max_tokens') return;
  const name = shortId(id);
  throw new UsageError(
    `Session ${name} has ended (${status.replace('_', ' ')}), so there is nothing to continue.`,
    `Add a prompt: cobbler resume ${name} "..."`,
  );
}

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { defined } from '@cobbler/agent/values';

/** The settings that a session continues with by default: its directory and its model. */
export interface SessionMetadata {
  readonly folder: string;
  /** In the form that `-m` accepts: `claude:claude-sonnet-5-5`. */
  readonly model?: string;
  /** Set on the command line for a model on another server. */
  readonly baseURL?: string;
  readonly api?: string;
  /** The folder of the agent. It is never loaded from here: its user must name it again. */
  readonly agent?: string;
  /** What its user has chosen on the page of a server. Runs in a terminal do not use it. */
  readonly chosen?: ChosenModel;
  /** True if it is in plan mode on a server. */
  readonly plans?: boolean;
  /** Set if a server started the last run, which it then continues after a crash. */
  readonly by?: 'server';
  /** Present if the last run of the session was started in the background. */
  readonly job?: JobMark;
}

/** A model that a server offers, an effort, or both. */
export interface ChosenModel {
  readonly model?: string;
  readonly effort?: string;
}

/** How a run in the background was started, so that it can continue without its user. */
export interface JobMark {
  readonly cwd: string;
  /** The options of the command line, with the permissions. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Number of events of the session when its user was notified of its end. */
  readonly told?: number;
}

/** A small file per session, because the store records no directories. A session without a readable one is valid. */
export class SessionNotes {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * Keeps what the user has chosen on a page, unless the note changes it. Never throws: without metadata the session
   * continues in the current directory.
   */
  write(sessionId: string, note: SessionMetadata): void {
    const { chosen, plans } = this.read(sessionId) ?? {};
    const whole = { ...defined({ chosen, plans }), ...note };
    try {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      writeFileSync(this.path(sessionId, 'json'), `${JSON.stringify(whole)}\n`, { mode: 0o600 });
    } catch {
      // The disk may be full; the store reports it.
    }
  }

  read(sessionId: string): SessionMetadata | undefined {
    try {
      const value: unknown = JSON.parse(readFileSync(this.path(sessionId, 'json'), 'utf8'));
      return noteOf(value);
    } catch {
      return undefined;
    }
  }

  /** Copies the note of a session to another one, or to itself, without its job. */
  copyUnmarked(from: string, to: string): void {
    const found = this.read(from);
    if (found === undefined) return;
    const { job: _, ...note } = found;
    this.write(to, note);
  }

  delete(sessionId: string): void {
    for (const kind of ['json', 'log', 'stop'] as const) rmSync(this.path(sessionId, kind), { force: true });
  }

  /**
   * Returns the path of a file of a session: its note, the output of its job, or the request that its job stops. An id can
   * contain a colon, which not every file system allows.
   */
  path(sessionId: string, kind: 'json' | 'log' | 'stop'): string {
    return join(this.#folder, `${encodeURIComponent(sessionId)}.${kind}`);
  }
}

function noteOf(value: unknown): SessionMetadata | undefined {
  const { folder, model, baseURL, api, agent, by, job, chosen, plans } = fields(value) ?? {};
  const mark = fields(job);
  const choice = fields(chosen);
  if (typeof folder !== 'string') return undefined;
  return {
    folder,
    ...(typeof model === 'string' && { model }),
    ...(typeof baseURL === 'string' && { baseURL }),
    ...(typeof api === 'string' && { api }),
    ...(typeof agent === 'string' && { agent }),
    ...(choice !== undefined && { chosen: choiceOf(choice) }),
    ...(plans === true && { plans }),
    ...(by === 'server' && { by }),
    ...(mark !== undefined && { job: markOf(mark) }),
  };
}

function choiceOf({ model, effort }: Readonly<Record<string, unknown>>): ChosenModel {
  return {
    ...(typeof model === 'string' && { model }),
    ...(typeof effort === 'string' && { effort }),
  };
}

/** The options are checked like those of a command line, when they are used. */
function markOf({ cwd, options, told }: Readonly<Record<string, unknown>>): JobMark {
  return {
    cwd: typeof cwd === 'string' ? cwd : '',
    options: fields(options) ?? {},
    ...(typeof told === 'number' && { told }),
  };
}

function fields(value: unknown): Readonly<Record<string, unknown>> | undefined {
  const isRecord = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isRecord ? (value as Readonly<Record<string, unknown>>) : undefined;
}

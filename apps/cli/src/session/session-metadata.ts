import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

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
}

/** A small file per session, because the store records no directories. A session without a readable one is valid. */
export class SessionNotes {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Never throws: without metadata the session continues in the current directory. */
  write(sessionId: string, note: SessionMetadata): void {
    try {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      writeFileSync(this.#path(sessionId), `${JSON.stringify(note)}\n`, { mode: 0o600 });
    } catch {
      // The disk may be full; the store reports it.
    }
  }

  read(sessionId: string): SessionMetadata | undefined {
    try {
      const value: unknown = JSON.parse(readFileSync(this.#path(sessionId), 'utf8'));
      return noteOf(value);
    } catch {
      return undefined;
    }
  }

  delete(sessionId: string): void {
    rmSync(this.#path(sessionId), { force: true });
  }

  /** Returns the file path. An id can contain a colon, which not every file system allows. */
  #path(sessionId: string): string {
    return join(this.#folder, `${encodeURIComponent(sessionId)}.json`);
  }
}

function noteOf(value: unknown): SessionMetadata | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { folder, model, baseURL, api, agent } = value as Readonly<Record<string, unknown>>;
  if (typeof folder !== 'string') return undefined;
  return {
    folder,
    ...(typeof model === 'string' && { model }),
    ...(typeof baseURL === 'string' && { baseURL }),
    ...(typeof api === 'string' && { api }),
    ...(typeof agent === 'string' && { agent }),
  };
}

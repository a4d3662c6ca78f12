/** A file that an undo or a redo restores. */
export interface FileRestoration {
  readonly path: string;
  /** The contents now; null if there is no file. */
  readonly now: Uint8Array | null;
  /** The contents to restore; null to delete the file. */
  readonly before: Uint8Array | null;
  /** True if another program has changed the file since. */
  readonly isChanged: boolean;
}

/** An undo that can be taken back. */
export interface Undone {
  /** Its changes are those of a run with this id. */
  readonly runId: string;
  /** The session before it. */
  readonly from: string;
  /** The last event of the session after it. With a later one, the conversation has continued. */
  readonly seq: number;
}

/** What the runs of sessions have changed in the files of a directory. */
export interface SessionUndo {
  /** Returns the files that undoing these runs would restore. */
  restorations(sessionId: string, runIds: ReadonlySet<string>): Promise<readonly FileRestoration[]>;
  /** Returns the last undo of a session that was not taken back. */
  undone(sessionId: string): Undone | undefined;
  /** Restores files, and records in a session, whose last event is given, how to take that back. */
  undo(files: readonly FileRestoration[], from: string, sessionId: string, seq: number): Promise<void>;
  /** Restores the files of an undo that is taken back. */
  redo(sessionId: string, undone: Undone, files: readonly FileRestoration[]): Promise<void>;
}

/** A command that the tools of a session have started in the background. */
export interface SessionCommand {
  readonly id: string;
  readonly command: string;
  /** `running`, or how it ended. */
  readonly status: string;
  /** Time from its start until its end or now, in milliseconds. */
  readonly durationMs: number;
  /** Its output so far, of limited size. */
  readonly output: string;
}

/** The commands in the background of the sessions in a directory. */
export interface SessionCommands {
  /** Returns the commands of a session, oldest first. */
  list(sessionId: string): readonly SessionCommand[];
  /** Stops a command and waits for its end. */
  stop(sessionId: string, id: string): Promise<void>;
  /** Gives the commands of a session to one that continues it. */
  move(from: string, to: string): void;
}

/** What a directory knows about the work of its sessions. */
export interface SessionPlace {
  readonly undo: SessionUndo;
  readonly commands: SessionCommands;
}

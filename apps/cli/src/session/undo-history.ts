import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Tool } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';
import { Workspace } from '@cobbler/agent/node';

/** The contents of a file before and after a call. */
interface UndoEntry {
  readonly runId: string;
  /** Relative to the working directory. */
  readonly path: string;
  /** Base64; null if the file did not exist. */
  readonly before: string | null;
  /** SHA-256 of the contents after the call, null if there is no file; absent if the call did not finish. */
  readonly after?: string | null;
}

/** An undo that can be taken back. Its changes to files are recorded like those of a run with its id. */
export interface Undone {
  readonly runId: string;
  /** The session before it. */
  readonly from: string;
  /** The last event after it. With a later one, the conversation has continued. */
  readonly seq: number;
}

/** A line of a history: a change, an undo, or that an undo was taken back. */
type UndoLine = UndoEntry | Undone | { readonly runId: string; readonly isRedone: true };

/** A file that an undo or a redo would restore. */
export interface Restoration {
  readonly path: string;
  /** The contents now; null if there is no file. */
  readonly now: Uint8Array | null;
  /** The contents to restore; null to delete the file. */
  readonly before: Uint8Array | null;
  /** True if another program has changed the file since. */
  readonly isChanged: boolean;
}

/** Maximum number of sessions whose current run is known. */
const maxRuns = 10_000;

const editTools: ReadonlySet<string> = new Set(['write_file', 'edit_file']);

/**
 * Stores the contents of files before the model's edits, in a file per session next to the sessions, so that each program
 * with this session can undo a run, and redo it. Changes made by commands are neither tracked nor undone.
 */
export class UndoHistory {
  readonly #workspace: Workspace;
  readonly #folder: string | undefined;
  /** The lines that are in no file. */
  readonly #inMemory: { readonly sessionId: string; readonly line: UndoLine }[] = [];
  readonly #runs = new Map<string, string>();

  /** `folder` is the directory for the history files; without it, the history lasts as long as this process. */
  constructor(root: string, folder: string | undefined) {
    this.#workspace = new Workspace(root);
    this.#folder = folder;
  }

  /** Assigns later edits in this session to this run. */
  begin(sessionId: string, runId: string): void {
    this.#runs.delete(sessionId);
    this.#runs.set(sessionId, runId);
    const [oldest = ''] = this.#runs.keys();
    if (this.#runs.size > maxRuns) this.#runs.delete(oldest);
  }

  /** Returns the tools, with those that edit files wrapped to record their changes. */
  watchTools(tools: readonly Tool[]): Tool[] {
    return tools.map((tool) => (editTools.has(tool.name) ? this.#watchedTool(tool) : tool));
  }

  /** Copies the history to a session that begins like another one, so that it can undo the same edits. */
  copy(from: string, to: string): void {
    for (const line of this.#read(from)) this.#write(to, line);
  }

  /** Deletes the history of a session. */
  forget(sessionId: string): void {
    this.#runs.delete(sessionId);
    const kept = this.#inMemory.filter((one) => one.sessionId !== sessionId);
    this.#inMemory.splice(0, Infinity, ...kept);
    const path = this.#path(sessionId);
    if (path !== undefined) rmSync(path, { force: true });
  }

  /** Returns the changes that undoing these runs would make, with files in the order of their first change. */
  async restorations(sessionId: string, runIds: ReadonlySet<string>): Promise<Restoration[]> {
    const entries = this.#read(sessionId).flatMap((line) =>
      'path' in line && runIds.has(line.runId) ? [line] : [],
    );
    const paths = [...new Set(entries.map(({ path }) => path))];
    const found = await Promise.all(paths.map((path) => this.#restoration(path, entries)));
    return found.filter((one) => one !== undefined);
  }

  /** Returns the last undo of a session that was not taken back. */
  undone(sessionId: string): Undone | undefined {
    const lines = this.#read(sessionId);
    const redone = new Set(lines.flatMap((line) => ('isRedone' in line ? [line.runId] : [])));
    return lines.findLast((line): line is Undone => 'from' in line && !redone.has(line.runId));
  }

  /**
   * Restores files, and records in a session how to take that back.
   * @param seq the last event of that session.
   * @throws AgentError if a file cannot be written; `undone` then takes the rest back.
   */
  async undo(
    restorations: readonly Restoration[],
    from: string,
    sessionId: string,
    seq: number,
  ): Promise<void> {
    const number = this.#read(sessionId).filter((line) => 'from' in line).length + 1;
    // No run has an id with a space.
    const runId = `undo ${number}`;
    this.#write(sessionId, { runId, from, seq });
    for (const one of restorations) {
      const { path, now, before } = one;
      this.#write(sessionId, {
        runId,
        path,
        before: now && base64(now),
        after: before && hashOf(before),
      });
      await this.#restore(one);
    }
  }

  /** Restores the files of an undo that is taken back. @throws AgentError if a file cannot be written. */
  async redo(sessionId: string, { runId }: Undone, restorations: readonly Restoration[]): Promise<void> {
    for (const one of restorations) await this.#restore(one);
    this.#write(sessionId, { runId, isRedone: true });
  }

  async #restore({ path, before }: Restoration): Promise<void> {
    if (before !== null) await this.#workspace.write(path, before);
    else rmSync(resolve(this.#workspace.root, await this.#workspace.locate(path)), { force: true });
  }

  #watchedTool(tool: Tool): Tool {
    return {
      ...tool,
      execute: async (args, context) => {
        const given = args['path'];
        const { sessionId = '' } = context;
        if (typeof given !== 'string') return await tool.execute(args, context);
        const before = await this.#contentOf(given);
        // Different spellings of a path give the same name.
        const path = this.#workspace.subject(given);
        const entry = {
          runId: this.#runs.get(sessionId) ?? '',
          path,
          before: before ? base64(before) : null,
        };
        // Written before the edit, so that an edit interrupted by a crash can be undone too.
        if (before !== undefined) this.#write(sessionId, entry);
        const output = await tool.execute(args, context);
        const after = await this.#contentOf(given);
        if (after !== undefined && after !== null) this.#write(sessionId, { ...entry, after: hashOf(after) });
        return output;
      },
    };
  }

  async #restoration(path: string, entries: readonly UndoEntry[]): Promise<Restoration | undefined> {
    const own = entries.filter((entry) => entry.path === path);
    const [first] = own;
    if (first === undefined) return undefined;
    const now = await this.#contentOf(path);
    const before = first.before === null ? null : Buffer.from(first.before, 'base64');
    if (now === undefined || isSame(now, before)) return undefined;
    const left = own.findLast(({ after }) => after !== undefined)?.after;
    return { path, now, before, isChanged: left !== undefined && (now && hashOf(now)) !== left };
  }

  /** Returns the contents of a file; null if it does not exist, undefined for a path that the tool will reject. */
  async #contentOf(path: string): Promise<Buffer | null | undefined> {
    try {
      return readFileSync(resolve(this.#workspace.root, await this.#workspace.locate(path)));
    } catch (error) {
      return AgentError.is(error) && error.code === 'not_found' ? null : undefined;
    }
  }

  #path(sessionId: string): string | undefined {
    return this.#folder && join(this.#folder, `${encodeURIComponent(sessionId)}.jsonl`);
  }

  #write(sessionId: string, line: UndoLine): void {
    const path = this.#path(sessionId);
    try {
      if (path === undefined) throw new Error('There is no directory.');
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      // The first line break ends a line that was cut off.
      appendFileSync(path, `\n${JSON.stringify(line)}\n`, { mode: 0o600 });
    } catch {
      // It is still known while this process lives.
      this.#inMemory.push({ sessionId, line });
    }
  }

  #read(sessionId: string): readonly UndoLine[] {
    const own = this.#inMemory.flatMap((one) => (one.sessionId === sessionId ? [one.line] : []));
    return [...linesIn(this.#path(sessionId)), ...own];
  }
}

function linesIn(path: string | undefined): UndoLine[] {
  if (path === undefined || !existsSync(path)) return [];
  return readFileSync(path, 'utf8')
    .split('\n')
    .flatMap((line) => {
      try {
        return [JSON.parse(line) as UndoLine];
      } catch {
        // A crash cut this line off.
        return [];
      }
    });
}

function isSame(now: Uint8Array | null | undefined, then: Uint8Array | null): boolean {
  return now && then ? Buffer.compare(now, then) === 0 : now === then;
}

function base64(content: Uint8Array): string {
  return Buffer.from(content).toString('base64');
}

function hashOf(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Tool } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';
import { Workspace } from '@cobbler/agent/node';

/** The contents of a file before and after a call. */
interface UndoEntry {
  readonly runId: string;
  /** Relative to the folder. */
  readonly path: string;
  /** Base64; nothing when there was no file. */
  readonly before: string | null;
  /** SHA-256 of what stood there afterwards; absent when the call did not come to its end. */
  readonly after?: string;
}

/** A file that an undo would restore. */
export interface Restoration {
  readonly path: string;
  /** Nothing: the file goes. */
  readonly before: Uint8Array | null;
  /** Another program has changed it since. */
  readonly isChanged: boolean;
}

const editTools: ReadonlySet<string> = new Set(['write_file', 'edit_file']);

/**
 * Stores the contents of files before the model's edits, in a file per session next to the sessions, so that a run can
 * be undone even after a restart of the chat. Changes made by commands are neither tracked nor undone.
 */
export class UndoHistory {
  readonly #workspace: Workspace;
  readonly #folder: string | undefined;
  readonly #inMemory: UndoEntry[] = [];
  #sessionId = '';
  #runId = '';

  /** `folder` is where books are kept; without it they last as long as this process. */
  constructor(root: string, folder: string | undefined) {
    this.#workspace = new Workspace(root);
    this.#folder = folder;
  }

  /** Edits from now on belong to this run. */
  begin(sessionId: string, runId: string): void {
    if (sessionId !== this.#sessionId) this.#inMemory.length = 0;
    this.#sessionId = sessionId;
    this.#runId = runId;
  }

  /** The tools with those that edit files watched. */
  watched(tools: readonly Tool[]): Tool[] {
    return tools.map((tool) => (editTools.has(tool.name) ? this.#watchedTool(tool) : tool));
  }

  /** A session that begins like another one can take back what was done there. */
  copy(from: string, to: string): void {
    const entries = this.#read(from);
    this.begin(to, this.#runId);
    for (const entry of entries) this.#write(entry);
  }

  /** The changes that undoing these runs would restore, files in the order of their first change. */
  async restorations(sessionId: string, runIds: ReadonlySet<string>): Promise<Restoration[]> {
    const entries = this.#read(sessionId).filter((entry) => runIds.has(entry.runId));
    const paths = [...new Set(entries.map(({ path }) => path))];
    const found = await Promise.all(paths.map((path) => this.#restoration(path, entries)));
    return found.filter((one) => one !== undefined);
  }

  /** @throws AgentError when a file cannot be written. */
  async restore(restorations: readonly Restoration[]): Promise<void> {
    for (const { path, before } of restorations) {
      if (before !== null) await this.#workspace.write(path, before);
      else rmSync(resolve(this.#workspace.root, await this.#workspace.locate(path)), { force: true });
    }
  }

  #watchedTool(tool: Tool): Tool {
    return {
      ...tool,
      execute: async (args, context) => {
        const given = args['path'];
        if (typeof given !== 'string') return await tool.execute(args, context);
        const before = await this.#contentOf(given);
        // One file has one name, however the model calls it.
        const path = this.#workspace.subject(given);
        const entry = { runId: this.#runId, path, before: before?.toString('base64') ?? null };
        // Before the edit, so that a crash in the middle of it can be undone too.
        if (before !== undefined) this.#write(entry);
        const output = await tool.execute(args, context);
        const after = await this.#contentOf(given);
        if (after !== undefined && after !== null) this.#write({ ...entry, after: hashOf(after) });
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
    const isSame = now === undefined || (now === null ? before === null : before?.equals(now) === true);
    if (isSame) return undefined;
    const left = own.findLast(({ after }) => after !== undefined)?.after;
    return { path, before, isChanged: left !== undefined && (now === null || hashOf(now) !== left) };
  }

  /** Null for a file that is not there, nothing for a path that the tool will refuse. */
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

  #write(entry: UndoEntry): void {
    this.#inMemory.push(entry);
    const path = this.#path(this.#sessionId);
    if (path === undefined) return;
    try {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      appendFileSync(path, `${JSON.stringify(entry)}\n`, { mode: 0o600 });
    } catch {
      // As long as this process lives it is known all the same.
    }
  }

  #read(sessionId: string): readonly UndoEntry[] {
    const path = this.#path(sessionId);
    if (sessionId === this.#sessionId && this.#inMemory.length > 0) {
      const current = this.#inMemory.map(({ runId }) => runId);
      return [...fileEntries(path).filter(({ runId }) => !current.includes(runId)), ...this.#inMemory];
    }
    return fileEntries(path);
  }
}

function fileEntries(path: string | undefined): UndoEntry[] {
  if (path === undefined || !existsSync(path)) return [];
  return readFileSync(path, 'utf8')
    .split('\n')
    .flatMap((line) => {
      try {
        return [JSON.parse(line) as UndoEntry];
      } catch {
        // A line that a crash cut off.
        return [];
      }
    });
}

function hashOf(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

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
  /** SHA-256 of the contents after the call; absent if the call did not finish. */
  readonly after?: string;
}

/** A file that an undo would restore. */
export interface Restoration {
  readonly path: string;
  /** The contents to restore; null to delete the file. */
  readonly before: Uint8Array | null;
  /** True if another program has changed the file since. */
  readonly isChanged: boolean;
  /** The contents that a restoration has left, for one that takes it back. */
  readonly left?: Uint8Array | null;
}

const editTools: ReadonlySet<string> = new Set(['write_file', 'edit_file']);

/**
 * Stores the contents of files before the model's edits, in a file per session next to the sessions, so that a run
 * can be undone even after a restart of the chat. Changes made by commands are neither tracked nor undone.
 */
export class UndoHistory {
  readonly #workspace: Workspace;
  readonly #folder: string | undefined;
  readonly #inMemory: (UndoEntry & { readonly sessionId: string })[] = [];
  #sessionId = '';
  #runId = '';

  /** `folder` is the directory for the history files; without it, the history lasts as long as this process. */
  constructor(root: string, folder: string | undefined) {
    this.#workspace = new Workspace(root);
    this.#folder = folder;
  }

  /** Assigns later edits to this run. */
  begin(sessionId: string, runId: string): void {
    this.#sessionId = sessionId;
    this.#runId = runId;
  }

  /** Returns the tools, with those that edit files wrapped to record their changes. */
  watchTools(tools: readonly Tool[]): Tool[] {
    return tools.map((tool) => (editTools.has(tool.name) ? this.#watchedTool(tool) : tool));
  }

  /** Copies the history to a session that begins like another one, so that it can undo the same edits. */
  copy(from: string, to: string): void {
    const entries = this.#read(from);
    this.begin(to, this.#runId);
    for (const entry of entries) this.#write(entry);
  }

  /** Returns the changes that undoing these runs would make, with files in the order of their first change. */
  async restorations(sessionId: string, runIds: ReadonlySet<string>): Promise<Restoration[]> {
    const entries = this.#read(sessionId).filter((entry) => runIds.has(entry.runId));
    const paths = [...new Set(entries.map(({ path }) => path))];
    const found = await Promise.all(paths.map((path) => this.#restoration(path, entries)));
    return found.filter((one) => one !== undefined);
  }

  /** Restores the files. Returns what takes that back. @throws AgentError if a file cannot be written. */
  async restore(restorations: readonly Restoration[]): Promise<readonly Restoration[]> {
    const inverse: Restoration[] = [];
    for (const { path, before } of restorations) {
      const now = await this.#contentOf(path);
      if (before !== null) await this.#workspace.write(path, before);
      else rmSync(resolve(this.#workspace.root, await this.#workspace.locate(path)), { force: true });
      if (now !== undefined) inverse.push({ path, before: now, isChanged: false, left: before });
    }
    return inverse;
  }

  /** Returns what takes a restoration back, with the changes since. */
  async check(inverse: readonly Restoration[]): Promise<readonly Restoration[]> {
    return await Promise.all(
      inverse.map(async (one) => {
        const { path, left = null } = one;
        return { ...one, isChanged: !isSame(await this.#contentOf(path), left) };
      }),
    );
  }

  #watchedTool(tool: Tool): Tool {
    return {
      ...tool,
      execute: async (args, context) => {
        const given = args['path'];
        if (typeof given !== 'string') return await tool.execute(args, context);
        const before = await this.#contentOf(given);
        // Different spellings of a path give the same name.
        const path = this.#workspace.subject(given);
        const entry = { runId: this.#runId, path, before: before?.toString('base64') ?? null };
        // Written before the edit, so that an edit interrupted by a crash can be undone too.
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
    if (now === undefined || isSame(now, before)) return undefined;
    const left = own.findLast(({ after }) => after !== undefined)?.after;
    return { path, before, isChanged: left !== undefined && (now === null || hashOf(now) !== left) };
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

  #write(entry: UndoEntry): void {
    this.#inMemory.push({ ...entry, sessionId: this.#sessionId });
    const path = this.#path(this.#sessionId);
    if (path === undefined) return;
    try {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      appendFileSync(path, `${JSON.stringify(entry)}\n`, { mode: 0o600 });
    } catch {
      // The entry is still known while this process lives.
    }
  }

  #read(sessionId: string): readonly UndoEntry[] {
    const own = this.#inMemory.filter((entry) => entry.sessionId === sessionId);
    const current = new Set(own.map(({ runId }) => runId));
    return [...fileEntries(this.#path(sessionId)).filter(({ runId }) => !current.has(runId)), ...own];
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
        // A crash cut this line off.
        return [];
      }
    });
}

function isSame(now: Uint8Array | null | undefined, then: Uint8Array | null): boolean {
  return now && then ? Buffer.compare(now, then) === 0 : now === then;
}

function hashOf(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

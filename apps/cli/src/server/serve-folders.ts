import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { SessionStore, Tool } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';
import type { ApprovalRequestedEvent } from '@cobbler/agent/events';
import type { HarnessOptions } from '@cobbler/agent/harness';
import type { SessionPlace, SessionPlaces } from '@cobbler/server';
import type { BackgroundCommands } from '@cobbler/tools';
import { workFolder } from '../config/directory.ts';
import { keepRule } from '../config/project-rules.ts';
import type { Permission, PlannedSessions } from '../permissions/permission.ts';
import { ruledCall } from '../permissions/permission-rule.ts';
import type { SessionMetadata } from '../session/session-metadata.ts';
import { SessionNotes } from '../session/session-metadata.ts';
import { UndoHistory } from '../session/undo-history.ts';
import { withMethod } from '../session/with-method.ts';
import type { Environment, Io } from '../terminal/io.ts';
import type { SessionModels } from './session-models.ts';

/** What the sessions in one directory have in common. */
export interface ServedFolder {
  readonly permission: Permission;
  readonly settings: Omit<HarnessOptions, 'store' | 'sessionId' | 'handler' | 'tools'>;
  readonly tools: () => readonly Tool[];
  readonly background: BackgroundCommands;
  /** Ends what the tools have started in a session that is deleted, and in all. */
  readonly forget: (sessionId: string) => Promise<void>;
  readonly close: () => Promise<void>;
  /** What a session needs to continue on the command line. */
  readonly note: SessionMetadata;
}

/** Maximum number of earlier sessions whose directories are offered. */
const maxListed = 500;

/** Options of {@link ServeFolders}. */
interface ServeFoldersOptions {
  /** The default directory. */
  readonly first: string;
  /** Other directories of the command line. */
  readonly others: readonly string[];
  /** The file of the server's tokens, next to which the settings of sessions are. */
  readonly tokens: string;
  readonly open: (folder: string, undo: UndoHistory) => Promise<ServedFolder>;
  readonly models: SessionModels;
  readonly env: Environment;
}

/** The directories of a server's sessions. Each session works in its own one, with the rules that apply there. */
export class ServeFolders implements SessionPlaces {
  readonly #options: ServeFoldersOptions;
  readonly #notes: SessionNotes;
  readonly #opening = new Map<string, Promise<ServedFolder>>();
  readonly #opened = new Map<string, ServedFolder>();
  /** All that were opened, also those that were replaced: a run keeps what it started with. */
  readonly #all: ServedFolder[] = [];
  /** What the runs of sessions have changed, by directory. */
  readonly #undo = new Map<string, UndoHistory>();
  readonly #planned: PlannedSessions = {
    has: (sessionId) => this.plans(sessionId),
    end: (sessionId) => this.plan(sessionId, false),
  };
  #store: SessionStore | undefined;

  constructor(options: ServeFoldersOptions) {
    this.#options = options;
    this.#notes = new SessionNotes(join(dirname(options.tokens), 'sessions'));
    options.models.keep = (sessionId, chosen) => this.#note(sessionId, { chosen });
  }

  /** Opens the default directory. */
  async start(): Promise<ServedFolder> {
    return await this.#folder(this.#options.first);
  }

  /** Opens every directory again, for later runs. Rejects without a change if one cannot be opened. */
  async renew(): Promise<void> {
    const folders = [...this.#opened.keys()];
    const opened = await Promise.all(folders.map((folder) => this.#open(folder)));
    this.#all.push(...opened);
    for (const [at, folder] of folders.entries()) this.#opened.set(folder, opened[at] as ServedFolder);
  }

  /** Returns a store that also keeps the directories of the sessions. */
  watch<Watched extends SessionStore>(store: Watched): Watched {
    this.#store = store;
    const claim: Watched['claim'] = (id: string, origin) => {
      const { parent } = origin ?? {};
      const found = this.#notes.read(id) ?? (parent && this.#notes.read(parent.sessionId));
      const note = found ?? this.#opened.get(this.#options.first)?.note;
      if (note !== undefined) this.#notes.write(id, { ...note, by: 'server' });
      if (parent !== undefined && found !== undefined) this.#undoIn(found.folder).copy(parent.sessionId, id);
      return store.claim(id, origin);
    };
    const append: Watched['append'] = (id, events, options) => {
      const { runId } = events.at(-1) ?? {};
      if (runId !== undefined) for (const undo of this.#undo.values()) undo.begin(id, runId);
      return store.append(id, events, options);
    };
    const remove: Watched['delete'] = async (id: string) => {
      for (const { forget } of this.#all) await forget(id);
      for (const undo of this.#undo.values()) undo.forget(id);
      this.#options.models.forget(id);
      const isDeleted = await store.delete(id);
      this.#notes.delete(id);
      return isDeleted;
    };
    return withMethod(withMethod(withMethod(store, 'claim', claim), 'append', append), 'delete', remove);
  }

  /** True if this server, or an earlier one, started the last run of a session. */
  isOwn(sessionId: string): boolean {
    return this.#notes.read(sessionId)?.by === 'server';
  }

  /** Returns what a session uses. Its directory must be open. */
  of(sessionId: string): ServedFolder {
    const { first } = this.#options;
    const found = this.#opened.get(this.folderOf(sessionId) ?? first) ?? this.#opened.get(first);
    if (found === undefined) throw new Error('The default directory is not open.');
    return found;
  }

  /** Returns the tools of all sessions. */
  tools(): readonly Tool[] {
    return [...this.#opened.values()].flatMap(({ tools }) => tools());
  }

  async open(sessionId: string): Promise<string | undefined> {
    const folder = this.folderOf(sessionId) ?? this.#options.first;
    try {
      await this.#folder(folder);
      const { chosen } = this.#notes.read(sessionId) ?? {};
      if (chosen !== undefined) await this.#options.models.restore(sessionId, chosen);
      return undefined;
    } catch (error) {
      return `The directory of this session cannot be used. ${AgentError.from(error).message}`;
    }
  }

  folderOf(sessionId: string): string | undefined {
    return this.#notes.read(sessionId)?.folder;
  }

  async folders(): Promise<readonly string[]> {
    const { first, others } = this.#options;
    const { sessions = [] } = (await this.#store?.list({ limit: maxListed })) ?? {};
    const earlier = sessions.flatMap(({ id }) => this.folderOf(id) ?? []);
    return [...new Set([first, ...others, ...earlier])].filter((folder) => existsSync(folder));
  }

  choose(sessionId: string, folder: string): void {
    const { note } = this.of(sessionId);
    this.#notes.write(sessionId, { ...note, folder });
  }

  rulesFor(sessionId: string, request: ApprovalRequestedEvent): readonly string[] {
    return this.of(sessionId).permission.offers(ruledCall(request));
  }

  async keepRule(sessionId: string, rule: string): Promise<void> {
    const { permission, note } = this.of(sessionId);
    await keepRule(note.folder, rule, this.#options.env);
    permission.allow(rule);
  }

  placeOf(sessionId: string): SessionPlace | undefined {
    const folder = this.folderOf(sessionId) ?? this.#options.first;
    const opened = this.#opened.get(folder);
    return opened && { undo: this.#undoIn(folder), commands: opened.background };
  }

  plans(sessionId: string): boolean {
    return this.#notes.read(sessionId)?.plans === true;
  }

  plan(sessionId: string, isOn: boolean): void {
    this.#note(sessionId, { plans: isOn });
    if (this.plans(sessionId) === isOn) return;
    const message = 'Plan mode was not changed, because a file of the session could not be written.';
    throw new AgentError({ kind: 'agent', code: 'store', message });
  }

  async close(): Promise<void> {
    for (const { close } of this.#all) await close();
  }

  #folder(folder: string): Promise<ServedFolder> {
    const known = this.#opening.get(folder);
    if (known !== undefined) return known;
    const opening = this.#open(folder).then((opened) => {
      this.#opened.set(folder, opened);
      this.#all.push(opened);
      return opened;
    });
    this.#opening.set(folder, opening);
    // The next session tries again.
    opening.catch(() => this.#opening.delete(folder));
    return opening;
  }

  async #open(folder: string): Promise<ServedFolder> {
    const opened = await this.#options.open(folder, this.#undoIn(folder));
    opened.permission.planned = this.#planned;
    return opened;
  }

  #undoIn(folder: string): UndoHistory {
    const known = this.#undo.get(folder);
    if (known !== undefined) return known;
    const undo = new UndoHistory(folder, join(dirname(this.#options.tokens), 'undo'));
    this.#undo.set(folder, undo);
    return undo;
  }

  #note(sessionId: string, change: Partial<SessionMetadata>): void {
    this.#notes.write(sessionId, { ...(this.#notes.read(sessionId) ?? this.of(sessionId).note), ...change });
  }
}

/** Returns the real paths of the directories of the command line. @throws UsageError for one that cannot be used. */
export function servedFolders(given: readonly string[], io: Pick<Io, 'cwd'>): readonly string[] {
  return given.map((folder) => workFolder(folder, io));
}

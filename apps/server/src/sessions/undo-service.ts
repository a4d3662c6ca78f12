import { createHash } from 'node:crypto';
import type { SessionStore } from '@cobbler/agent';
import { AgentError, systemRuntime } from '@cobbler/agent';
import type { TokenInfo } from '../auth/token-store.ts';
import { Problem } from '../requests/problem.ts';
import { logPages } from './log-pages.ts';
import type { ServerModels } from './session-models.ts';
import type { FileRestoration, SessionPlace, Undone } from './session-place.ts';
import type { SessionPlaces } from './session-places.ts';
import type { SessionService } from './session-service.ts';

/** An undo or a redo that is possible now. */
interface Step {
  readonly files: readonly FileRestoration[];
  /** Identifies the step and the contents of its files, so that exactly what was shown is done. */
  readonly hash: string;
}

interface UndoStep extends Step {
  /** The message that is undone. */
  readonly seq: number;
}

interface RedoStep extends Step {
  readonly undone: Undone;
}

interface UndoServiceOptions {
  readonly store: SessionStore;
  readonly sessionService: SessionService;
  readonly places?: SessionPlaces | undefined;
  readonly models?: ServerModels | undefined;
}

/** Undoes the last message of a session with its changes to files, and takes that back. Only the owner can do both. */
export class UndoService {
  readonly #options: UndoServiceOptions;

  constructor(options: UndoServiceOptions) {
    this.#options = options;
  }

  /** Returns what undo and redo would do now. */
  async look(
    sessionId: string,
    token: TokenInfo | undefined,
  ): Promise<{ readonly undo: UndoStep | undefined; readonly redo: RedoStep | undefined }> {
    await this.#options.sessionService.ownSession(sessionId, token);
    const place = this.#options.places?.placeOf(sessionId);
    if (place === undefined) return { undo: undefined, redo: undefined };
    return { undo: await this.#undoStep(sessionId, place), redo: await this.#redoStep(sessionId, place) };
  }

  /**
   * Restores the files, and continues in a copy of the session that ends before the message. Returns its id.
   * @throws Problem 409 `busy` during a run, `nothing_to_undo`, or `files_changed` if this is not the step that was shown.
   */
  async undo(sessionId: string, token: TokenInfo | undefined, hash: string): Promise<string> {
    const { sessionService, store, models } = this.#options;
    sessionService.checkOpen();
    const session = await sessionService.ownSession(sessionId, token);
    return await session.whileIdle(async () => {
      const place = this.#placeOf(sessionId);
      const { seq, files } = check(await this.#undoStep(sessionId, place), hash);
      const next = seq > 1 ? await session.fork(seq - 1, token) : await this.#createLike(sessionId, token);
      models?.copy(sessionId, next);
      const { events = 0 } = (await store.info(next)) ?? {};
      await restored(place.undo.undo(files, sessionId, next, events));
      place.commands.move(sessionId, next);
      return next;
    });
  }

  /** Takes the last undo back. Returns the id of the session before it. Throws as `undo`. */
  async redo(sessionId: string, token: TokenInfo | undefined, hash: string): Promise<string> {
    const { sessionService } = this.#options;
    sessionService.checkOpen();
    const session = await sessionService.ownSession(sessionId, token);
    return await session.whileIdle(async () => {
      const place = this.#placeOf(sessionId);
      const { undone, files } = check(await this.#redoStep(sessionId, place), hash);
      const { from } = undone;
      const before = await sessionService.ownSession(from, token);
      const perform = async () => {
        await restored(place.undo.redo(sessionId, undone, files));
        if (from !== sessionId) place.commands.move(sessionId, from);
      };
      await (before === session ? perform() : before.whileIdle(perform));
      return from;
    });
  }

  #placeOf(sessionId: string): SessionPlace {
    const place = this.#options.places?.placeOf(sessionId);
    if (place !== undefined) return place;
    throw new Problem(409, 'nothing_to_undo', 'This server cannot restore files of this session.');
  }

  async #undoStep(sessionId: string, { undo }: SessionPlace): Promise<UndoStep | undefined> {
    const { store } = this.#options;
    let last: { readonly seq: number; readonly runIds: Set<string> } | undefined;
    for await (const page of logPages((after, limit) => store.read(sessionId, after, limit)))
      for (const event of page) {
        if (event.type === 'user' && event.steer !== true) last = { seq: event.seq, runIds: new Set() };
        // More than one if the run was stopped and continued.
        last?.runIds.add(event.runId);
      }
    if (last === undefined) return undefined;
    const { seq, runIds } = last;
    const files = await undo.restorations(sessionId, runIds);
    return { seq, files, hash: hashOf(['undo', seq], files) };
  }

  async #redoStep(sessionId: string, { undo }: SessionPlace): Promise<RedoStep | undefined> {
    const { store } = this.#options;
    const undone = undo.undone(sessionId);
    const { events = 0 } = (await store.info(sessionId)) ?? {};
    if (undone?.seq !== events || (await store.info(undone.from)) === undefined) return undefined;
    const files = await undo.restorations(sessionId, new Set([undone.runId]));
    return { undone, files, hash: hashOf(['redo', undone.runId], files) };
  }

  /** Creates an empty session with the directory and the mode of another one. */
  async #createLike(sessionId: string, token: TokenInfo | undefined): Promise<string> {
    const { sessionService, places } = this.#options;
    const id = systemRuntime.id();
    const folder = places?.folderOf(sessionId);
    if (folder !== undefined) places?.choose(id, folder);
    await sessionService.create(id, token);
    if (places?.plans(sessionId) === true) places.plan(id, true);
    return id;
  }
}

function check<Found extends Step>(step: Found | undefined, hash: string): Found {
  if (step === undefined) throw new Problem(409, 'nothing_to_undo', 'There is nothing to undo or redo.');
  if (step.hash === hash) return step;
  const detail = 'The session or its files have changed since this was shown. Look at the changes again.';
  throw new Problem(409, 'files_changed', detail);
}

async function restored(restoring: Promise<void>): Promise<void> {
  try {
    await restoring;
  } catch (error) {
    const reason = AgentError.is(error) ? ` ${error.message}` : '';
    throw new Problem(409, 'not_restored', `Not every file could be restored.${reason}`);
  }
}

function hashOf(what: readonly (string | number)[], files: readonly FileRestoration[]): string {
  const digest = (content: Uint8Array | null) =>
    content && createHash('sha256').update(content).digest('hex');
  const all = files.map(({ path, now, before }) => [path, digest(now), digest(before)]);
  return createHash('sha256')
    .update(JSON.stringify([what, all]))
    .digest('hex');
}

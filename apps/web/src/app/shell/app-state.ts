import type { Event, UserPart } from '@cobbler/agent';
import type { PanelName } from '../panels/panel.tsx';
import type { Announcer } from '../parts/announcer.tsx';
import { counted } from '../parts/format.ts';
import { Observable } from '../parts/observable.ts';
import type { NextModel, RunChoice, SessionEntry, Setup, UndoKind, UndoStep } from '../session/api.ts';
import { ApiError, api } from '../session/api.ts';
import type { PageRoute } from '../session/route.ts';
import { addressOf, parseRoute, tokenIn } from '../session/route.ts';
import { SessionList } from '../session/session-list.ts';
import { SessionModel } from '../session/session-model.ts';

interface Warning {
  readonly id: number;
  readonly text: string;
  readonly tone: 'bad' | 'plain';
}

/** An undo or a redo that the user is asked about. */
export interface WantedUndo {
  readonly kind: UndoKind;
  readonly step: UndoStep;
}

/** Time after which a hidden page closes its connection, so that the browser does not run out of them, in milliseconds. */
const restAfterMs = 60_000;

const warningMs = 8_000;

/** The state of the page: the list, the route, and the open session. */
export class AppState extends Observable {
  readonly list: SessionList = new SessionList();
  place: PageRoute = parseRoute(location);
  model: SessionModel | undefined;
  warnings: readonly Warning[] = [];
  panel: PanelName | undefined;
  isFinding: boolean = false;
  /** What new sessions work with, once it is known. */
  setup: Setup | undefined;
  undo: WantedUndo | undefined;
  /** The sessions that began with an undo here, and their last events then. */
  readonly undone: Map<string, number> = new Map();
  /** What the user has chosen for the next new session. */
  #chosen: RunChoice = {};
  /** The session last created here. */
  createdId: string | undefined;
  readonly #announcer: Announcer;
  #warned = 0;
  #resting: ReturnType<typeof setTimeout> | undefined;

  constructor(announcer: Announcer) {
    super();
    this.#announcer = announcer;
  }

  /** Signs in with the token in the address, and opens its route. */
  async open(): Promise<void> {
    await this.#takeToken();
    addEventListener('popstate', () => this.#onRouteChange());
    addEventListener('hashchange', () => void this.#takeToken().then(() => this.#onRouteChange()));
    addEventListener('online', () => this.model?.wake());
    document.addEventListener('visibilitychange', () => this.#onVisibilityChange());
    this.#onRouteChange();
    void this.#loadSetup();
    await this.list.refresh();
  }

  /** The model of the next run in the open session or a new one; undefined if users cannot choose it. */
  get next(): NextModel | undefined {
    if (this.model !== undefined) return this.model.next;
    const { next } = this.setup ?? {};
    const { model = next?.model ?? '', effort = next?.effort ?? null } = this.#chosen;
    return next && { ...next, model, ...(effort === null ? { effort: '' } : { effort }) };
  }

  /** True if the next run is in plan mode. */
  get plans(): boolean {
    return this.model?.plans ?? this.#chosen.plan === true;
  }

  /** Chooses the model or the mode of the next run, in the open session or in the next new one. */
  async choose(change: RunChoice): Promise<void> {
    const { model } = this;
    if (model !== undefined)
      return await this.attempt(async () => model.showNext(await api.choose(model.id, change)));
    this.#chosen = { ...this.#chosen, ...change };
    this.notify();
  }

  /** Creates a session with what was chosen. */
  async create(
    chosen: RunChoice = this.#chosen,
    folder: string | undefined = this.list.folder,
  ): Promise<SessionEntry> {
    const created = await api.create(crypto.randomUUID(), folder);
    this.#chosen = { ...this.#chosen, plan: false };
    return Object.keys(chosen).length === 0 ? created : await api.choose(created.id, chosen);
  }

  /** Reconnects after a new sign-in. */
  signedIn(): void {
    this.list.isSignedOut = false;
    void this.list.refresh();
    void this.#loadSetup();
    this.model?.wake();
    this.notify();
  }

  go(place: PageRoute): void {
    const address = addressOf(place);
    if (address !== location.pathname + location.hash) history.pushState(null, '', address);
    this.#onRouteChange();
  }

  /** Opens a new session, to send its first message. */
  begin(entry: SessionEntry): void {
    this.createdId = entry.id;
    this.go({ sessionId: entry.id });
    this.model?.showNext(entry);
  }

  setPanel(panel: PanelName | undefined): void {
    this.panel = panel;
    this.notify();
  }

  find(isFinding: boolean): void {
    this.isFinding = isFinding;
    this.notifyNow();
  }

  /** Creates a session that begins like the open one. */
  async fork(seq: number): Promise<void> {
    const from = this.model?.id;
    if (from === undefined) return;
    await this.attempt(async () => {
      const { id } = await api.fork(from, seq);
      await this.list.refresh();
      this.go({ sessionId: id });
      this.warn(`This new session is a copy of the original up to event ${seq}.`, 'plain');
    });
  }

  /**
   * Sends a message again, or another one in its place, in a copy of the open session that ends before it. The original
   * and all files stay as they are.
   */
  async resend(seq: number, content: readonly UserPart[]): Promise<void> {
    const { model } = this;
    if (model === undefined) return;
    await this.attempt(async () => {
      this.begin(seq > 1 ? await api.fork(model.id, seq - 1) : await this.#createLike(model));
      await this.model?.say(content);
      await this.list.refresh();
      this.warn(
        'You are now in a copy. The original session is in the list. Files stayed as they were.',
        'plain',
      );
    });
  }

  /** Creates a session with the directory, the model and the mode of another one. */
  async #createLike({ id, next, plans }: SessionModel): Promise<SessionEntry> {
    const { folder } = await api.session(id);
    const first = this.setup?.next;
    // The default model may have a name that users cannot choose.
    const isDefault = next?.model === first?.model && next?.effort === first?.effort;
    const chosen = next === undefined || isDefault ? {} : { model: next.model, effort: next.effort ?? null };
    return await this.create({ ...chosen, ...(plans && { plan: true }) }, folder);
  }

  /** Asks the user about what undo or redo would do now. */
  async askUndo(kind: UndoKind): Promise<void> {
    const { model } = this;
    if (model === undefined) return;
    if (model.isRunning) return this.warn('Stop the run first.');
    await this.attempt(async () => {
      const { [kind]: step } = await api.undoSteps(model.id);
      if (step === undefined) return this.warn(`There is nothing to ${kind}.`, 'plain');
      this.undo = { kind, step };
      this.notify();
    });
  }

  /** Does what the user was asked about. */
  async performUndo(): Promise<void> {
    const { model, undo } = this;
    if (model === undefined || undo === undefined) return;
    this.endUndo();
    const { kind, step } = undo;
    await this.attempt(async () => {
      const { id } = await api.undo(model.id, kind, step.hash);
      if (step.seq !== undefined) this.undone.set(id, step.seq - 1);
      this.go({ sessionId: id });
      await this.list.refresh();
      const files = step.files.length === 0 ? '' : ` ${counted(step.files.length, 'file')} restored.`;
      this.warn(`${kind === 'undo' ? 'Undone.' : 'Redone.'}${files}`, 'plain');
    });
  }

  endUndo(): void {
    this.undo = undefined;
    this.notify();
  }

  /** Renames the open session; if the title is empty, it is reset to the start of the first prompt. */
  async rename(title: string): Promise<void> {
    const id = this.model?.id;
    if (id === undefined) return;
    await this.attempt(async () => {
      await api.rename(id, title);
      await this.list.refresh();
    });
  }

  /** Runs an action; if it fails, shows the reason and throws. */
  async attempt(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) this.list.isSignedOut = true;
      this.warn(error instanceof Error ? error.message : String(error));
      throw error;
    }
  }

  /** Shows a notice for a limited time. */
  warn(text: string, tone: Warning['tone'] = 'bad'): void {
    this.#warned += 1;
    const id = this.#warned;
    this.warnings = [...this.warnings.filter((warning) => warning.text !== text), { id, text, tone }].slice(
      -3,
    );
    setTimeout(() => this.dismiss(id), warningMs);
    this.notify();
  }

  dismiss(id: number): void {
    this.warnings = this.warnings.filter((warning) => warning.id !== id);
    this.notify();
  }

  async #loadSetup(): Promise<void> {
    // Without it, only the picker and the facts about the directory are missing.
    this.setup = await api.setup().catch(() => undefined);
    this.notify();
  }

  async #takeToken(): Promise<void> {
    const token = tokenIn(location);
    if (token === undefined) return;
    history.replaceState(null, '', location.pathname);
    try {
      await api.signIn(token);
      if (this.list.isSignedOut) this.signedIn();
    } catch (error) {
      this.warn(error instanceof Error ? error.message : String(error));
    }
  }

  #onRouteChange(): void {
    this.place = parseRoute(location);
    const { sessionId } = this.place;
    if (this.model?.id !== sessionId) {
      this.model?.end();
      this.isFinding = false;
      this.model =
        sessionId === undefined ? undefined : new SessionModel(sessionId, (event) => this.#handle(event));
      this.undo = undefined;
      this.#loadNext();
    }
    this.notifyNow();
  }

  #loadNext(): void {
    const { model } = this;
    if (model === undefined) return;
    void api.session(model.id).then(
      (entry) => model.showNext(entry),
      () => undefined,
    );
  }

  #handle(event: Event): void {
    this.#announcer.handle(event);
    const { type } = event;
    const { model } = this;
    if (type === 'user' || type === 'finished' || type === 'approval_requested') void this.list.refresh();
    // An approved plan ends plan mode.
    if (type === 'tool_result' && event.toolName === 'present_plan') this.#loadNext();
    if (type !== 'approval_decided' || model?.given.has(event.approvalId) === true) return;
    // The user has sent a message instead of deciding.
    if (event.decision === 'superseded' && model?.outgoing !== undefined) return;
    const words = {
      allow: 'was allowed elsewhere',
      deny: 'was denied elsewhere',
      expired: 'has expired',
      superseded: 'was withdrawn elsewhere',
    };
    this.warn(`This approval request ${words[event.decision]}.`, 'plain');
  }

  #onVisibilityChange(): void {
    clearTimeout(this.#resting);
    void this.list.refresh();
    if (document.hidden) {
      this.#resting = setTimeout(() => this.model?.rest(), restAfterMs);
      return;
    }
    this.model?.wake();
  }
}

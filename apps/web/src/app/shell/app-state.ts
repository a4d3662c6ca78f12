import type { Event, UserPart } from '@cobbler/agent';
import type { PanelName } from '../panels/panel.tsx';
import type { Announcer } from '../parts/announcer.tsx';
import { Observable } from '../parts/observable.ts';
import type { ModelChange, NextModel, Setup } from '../session/api.ts';
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
  /** The model that the user has chosen for the next new session. */
  #chosen: ModelChange = {};
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

  /** Chooses the model of the next run, in the open session or in the next new one. */
  async choose(change: ModelChange): Promise<void> {
    const { model } = this;
    if (model !== undefined)
      return await this.attempt(async () => model.showNext((await api.choose(model.id, change)).next));
    this.#chosen = { ...this.#chosen, ...change };
    this.notify();
  }

  /** Creates a session with the chosen model. Returns its id. */
  async create(
    chosen: ModelChange = this.#chosen,
    folder: string | undefined = this.list.folder,
  ): Promise<string> {
    const { id } = await api.create(crypto.randomUUID(), folder);
    if (Object.keys(chosen).length > 0) await api.choose(id, chosen);
    return id;
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
  begin(sessionId: string): void {
    this.createdId = sessionId;
    this.go({ sessionId });
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
      this.begin(seq > 1 ? (await api.fork(model.id, seq - 1)).id : await this.#createLike(model));
      await this.model?.say(content);
      await this.list.refresh();
      this.warn(
        'You are now in a copy. The original session is in the list. Files stayed as they were.',
        'plain',
      );
    });
  }

  /** Creates a session with the directory and the model of another one. Returns its id. */
  async #createLike({ id, next }: SessionModel): Promise<string> {
    const { folder } = await api.session(id);
    const first = this.setup?.next;
    // The default model may have a name that users cannot choose.
    const isDefault = next?.model === first?.model && next?.effort === first?.effort;
    const chosen = next === undefined || isDefault ? {} : { model: next.model, effort: next.effort ?? null };
    return await this.create(chosen, folder);
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
      const { model } = this;
      if (model !== undefined)
        void api.session(model.id).then(
          ({ next }) => model.showNext(next),
          () => undefined,
        );
    }
    this.notifyNow();
  }

  #handle(event: Event): void {
    this.#announcer.handle(event);
    const { type } = event;
    const { model } = this;
    if (type === 'user' || type === 'finished' || type === 'approval_requested') void this.list.refresh();
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

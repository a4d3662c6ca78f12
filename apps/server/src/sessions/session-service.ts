import type { RunEvent, SessionInfo, SessionStore } from '@cobbler/agent';
import { AgentError, isStored, systemRuntime } from '@cobbler/agent';
import type { HarnessHandler } from '@cobbler/agent/harness';
import { createHarness } from '@cobbler/agent/harness';
import type { Runner } from '@cobbler/agent/runner';
import { runnerHarness } from '@cobbler/agent/runner-harness';
import { defined } from '@cobbler/agent/values';
import type { OwnedSession } from '../auth/access.ts';
import { mayAccess, owns, scopesIn, seesAll, userOf } from '../auth/access.ts';
import type { TokenInfo, TokenStore } from '../auth/token-store.ts';
import type { ServerLimits } from '../requests/limits.ts';
import { Problem } from '../requests/problem.ts';
import type { Scope } from '../requests/scope.ts';
import { allows } from '../requests/scope.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Meters } from '../telemetry/meters.ts';
import { RunSpans } from '../telemetry/run-spans.ts';
import { LiveSession } from './live-session.ts';
import { sessionsWithStatus } from './session-index.ts';
import type { ModelChange, ServerModels } from './session-models.ts';
import { changeModel } from './session-models.ts';
import type { SessionPlaces } from './session-places.ts';
import type { Accepted } from './session-ports.ts';
import type { OpenSession, SessionSettings } from './session-work.ts';
import { sessionExecutor } from './session-work.ts';
import type { TokenBudgets } from './token-budgets.ts';

/** Maximum number of remembered sessions without events for each user. */
const maxMade = 10_000;

/** Maximum number of remembered sessions without a user in the store. */
const maxRead = 10_000;

/** A runner whose runs outlive this process. */
export interface Elsewhere {
  /** Runs the workflow that `sessionWork` creates for the same store and settings. */
  readonly runner: Pick<Runner, 'start' | 'cancel' | 'status'>;
  /** Calls the listener when any process has appended to a session. Default: the log is checked at intervals. */
  readonly watch?: (listener: (sessionId: string) => void) => () => void;
}

/** Dependencies of the session service. */
export interface SessionServiceOptions {
  readonly store: SessionStore;
  readonly settings: (sessionId: string) => SessionSettings;
  /** Executes the runs. Default: they execute here and end with the process. */
  readonly elsewhere?: Elsewhere;
  readonly places?: SessionPlaces;
  readonly limits: ServerLimits;
  /** All valid tokens. */
  readonly tokens: Pick<TokenStore, 'list'>;
  readonly budgets: TokenBudgets;
  readonly logger: Logger;
  readonly meters: Meters;
  readonly models?: ServerModels;
  /** Receives the id of a session that begins here, possibly after another process deleted one with this id. */
  readonly onCreate: (sessionId: string) => void;
  /** Receives every event of every session. */
  readonly onEvent: (sessionId: string, event: RunEvent) => void;
}

/** The sessions in memory. Each is opened on request and closed when it is no longer needed. */
export class SessionService {
  readonly #options: SessionServiceOptions;
  readonly #live = new Map<string, LiveSession>();
  /** Sessions that were created but have no messages yet, which stores do not list, and their creators. */
  readonly #created = new Map<string, OwnedSession>();
  /** The users in the first events of sessions whose entry in the store names none, by id and creation time. */
  readonly #read = new Map<string, string | undefined>();
  #clock = 0;
  #isClosing = false;

  constructor(options: SessionServiceOptions) {
    this.#options = options;
  }

  /** Number of sessions in memory. */
  get size(): number {
    return this.#live.size;
  }

  /** Number of active runs. */
  get running(): number {
    return [...this.#live.values()].filter(({ run }) => run !== undefined).length;
  }

  /** Number of sessions besides this one that run for a user. */
  runsOf(user: string, besides: LiveSession): number {
    return [...this.#live.values()].filter((one) => one !== besides && one.runsFor(user)).length;
  }

  /** Number of connected event clients. */
  get readers(): number {
    let readers = 0;
    for (const { broadcast } of this.#live.values()) readers += broadcast.size;
    return readers;
  }

  /** Returns the active run of a session; undefined if there is none. */
  runIn(sessionId: string): string | undefined {
    return this.#live.get(sessionId)?.run?.id;
  }

  /** True if this process executes a run of a session. */
  runHere(sessionId: string): boolean {
    return this.#live.get(sessionId)?.ownRun !== undefined;
  }

  /** True if other processes may execute runs of its sessions. */
  get hasRunsElsewhere(): boolean {
    return this.#options.elsewhere !== undefined;
  }

  /** True if the server is shutting down. */
  get isClosing(): boolean {
    return this.#isClosing;
  }

  /**
   * Returns a session for a request that needs this scope in it. All routes find their session here, or with `openOrCreate`.
   * @throws Problem 404 for an unknown session and for one that the token may not use, 403 without the scope, 503 if too many
   *   are in use.
   */
  async session(id: string, token: TokenInfo | undefined, scope: Scope): Promise<LiveSession> {
    const found = await this.#find(id, token);
    const granted = found === undefined ? [] : scopesIn(token, found);
    if (found === undefined || granted.length === 0)
      throw new Problem(404, 'no_session', `There is no session ${id}.`);
    if (!allows(granted, scope)) {
      const isLimited = token !== undefined && allows(token.scopes, scope);
      const what = isLimited ? 'This session is shared with this user without' : 'This token lacks';
      throw new Problem(403, 'scope', `${what} the "${scope}" scope.`);
    }
    return await this.#joinRun(await this.#open(id, found));
  }

  /**
   * Returns a session for a request of its owner.
   * @throws Problem as `session`, and 403 for a user with whom it is shared.
   */
  async ownSession(id: string, token: TokenInfo | undefined): Promise<LiveSession> {
    const session = await this.session(id, token, 'prompt');
    if (token !== undefined && owns(token, session)) return session;
    throw new Problem(403, 'owner', 'Only the owner of this session can do this.');
  }

  /**
   * Returns the items whose sessions a token may use. An item older than its session is from a deleted one with the
   * same id, which may have belonged to another user.
   */
  async visible<Item extends { readonly sessionId: string; readonly askedAt: string }>(
    items: readonly Item[],
    token: TokenInfo | undefined,
  ): Promise<readonly Item[]> {
    if (token !== undefined && seesAll(token)) return items;
    const firstAt = new Map<string, number>();
    for (const id of new Set(items.map(({ sessionId }) => sessionId))) {
      if (!mayAccess(token, (await this.#find(id, token)) ?? {})) continue;
      // A store that imported the session has a later creation time.
      const [first] = await this.#options.store.read(id, 0, 1);
      if (first !== undefined) firstAt.set(id, Date.parse(first.time));
    }
    return items.filter(
      ({ sessionId, askedAt }) => Date.parse(askedAt) >= (firstAt.get(sessionId) ?? Infinity),
    );
  }

  /** True if a token may use a session that the store has listed. */
  async mayList(token: TokenInfo | undefined, info: SessionInfo): Promise<boolean> {
    return mayAccess(token, info) || mayAccess(token, await this.#owned(info));
  }

  /**
   * Creates a session, or returns the one with this id.
   * @throws Problem 409 `id_taken` if it is a session that the token may not use.
   */
  async create(
    id: string = systemRuntime.id(),
    token: TokenInfo | undefined,
  ): Promise<{ id: string; isNew: boolean }> {
    this.checkOpen();
    const stored = await this.#find(id, token);
    // Another request may have created it since.
    const found = (stored?.events ?? 0) > 0 ? stored : (this.#created.get(id) ?? stored);
    if (found === undefined) {
      await this.#make(id, token, () => this.#claim(id));
    } else if (found.events === 0) {
      // An earlier process has created it. It contains nothing but perhaps a title, which its creator has chosen.
      await this.#make(id, token, () => this.#options.store.rename(id, ''));
    } else if (!mayAccess(token, found)) {
      throw new Problem(409, 'id_taken', `The id ${id} is not available. Use another one.`);
    }
    return { id, isNew: found === undefined };
  }

  /** Returns a session, created on the first request. Throws like `create`, or like `session` for a token that only reads. */
  async openOrCreate(id: string, token: TokenInfo | undefined, scope: Scope): Promise<LiveSession> {
    if (allows(token?.scopes ?? [], 'prompt')) await this.create(id, token);
    return await this.session(id, token, scope);
  }

  /**
   * Chooses the model of a session's next run.
   * @throws Problem 400 if the server does not offer it, and as `ownSession`.
   */
  async chooseModel(id: string, token: TokenInfo | undefined, change: ModelChange): Promise<void> {
    const session = await this.ownSession(id, token);
    await changeModel(this.#options.models, id, change);
    session.renew();
  }

  /** @throws Problem 409 `busy` if the session is running. */
  async delete(id: string, token: TokenInfo | undefined): Promise<void> {
    const session = await this.ownSession(id, token);
    await session.whileIdle(async () => {
      await session.close();
      session.broadcast.end();
      this.#live.delete(id);
      this.#created.delete(id);
      await this.#options.store.delete(id);
    });
  }

  /** Continues the interrupted sessions for which `isOwn` returns true. Resolves with those that could continue. */
  async resumeInterrupted(isOwn: (sessionId: string) => boolean = () => true): Promise<Accepted[]> {
    const { store, logger, elsewhere } = this.#options;
    const resumed: Accepted[] = [];
    // A run that was interrupted there continues there.
    if (elsewhere !== undefined) return resumed;
    for (const info of await sessionsWithStatus(store, 'interrupted')) {
      const { id } = info;
      if (!isOwn(id)) continue;
      try {
        const session = await this.#open(id, await this.#owned(info));
        const accepted = await session.resume({}, undefined);
        resumed.push(accepted);
        logger.note('info', 'continued a run that was cut off', { ...accepted });
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        logger.note('error', 'could not continue a run that was cut off', { sessionId: id, reason });
      }
    }
    return resumed;
  }

  /** @throws Problem 503 if the server is shutting down. */
  checkOpen(): void {
    if (!this.#isClosing) return;
    throw new Problem(503, 'stopping', 'The server is shutting down. Try again after it has restarted.', {
      headers: { 'retry-after': '5' },
    });
  }

  /** Publishes the events that other processes wrote into their sessions, or into this one. */
  async publishOthers(sessionId?: string): Promise<void> {
    const sessions = sessionId === undefined ? [...this.#live.values()] : [this.#live.get(sessionId)];
    for (const session of sessions) await session?.publishOthers();
  }

  /** Makes the next run of each session use the current settings. */
  renew(): void {
    for (const session of this.#live.values()) session.renew();
  }

  /** Ends the streams of a token. */
  endStreams(tokenId?: string): void {
    const isOther = tokenId === undefined ? undefined : (id: string) => id !== tokenId;
    for (const { broadcast } of this.#live.values()) broadcast.end(isOther);
  }

  /** Waits for runs to end, and cancels those that do not end in time. */
  async drain(ms: number): Promise<void> {
    this.#isClosing = true;
    // Runs that execute elsewhere need not end before this process does.
    const here = this.#options.elsewhere === undefined ? [...this.#live.values()] : [];
    const running = here.flatMap(({ ownRun }) => ownRun ?? []);
    let cancel: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      cancel = setTimeout(resolve, ms);
    });
    await Promise.race([Promise.all(running.map((run) => run.result)), late]);
    clearTimeout(cancel);
    await Promise.all(here.map((session) => session.close()));
    this.endStreams();
  }

  async #make(id: string, token: TokenInfo | undefined, prepare: () => Promise<unknown>): Promise<void> {
    const user = token && userOf(token);
    // Registered before it is stored, so that a concurrent request uses this one instead of creating it again.
    this.#created.set(id, { user });
    this.#forgetOldest(user);
    this.#options.onCreate(id);
    try {
      await prepare();
    } catch (error) {
      const code = AgentError.is(error) ? error.code : undefined;
      if (code === 'fenced') return;
      this.#created.delete(id);
      if (code === 'in_use' || code === 'session_id') throw error;
      const headers = { 'retry-after': '5' };
      throw new Problem(503, 'store', 'The session could not be stored. Try again.', { headers });
    }
  }

  /** Without an event, a session remains only in stores that keep such sessions. */
  async #claim(id: string): Promise<void> {
    const epoch = await this.#options.store.claim(id);
    await this.#options.store.append(id, [], { epoch, release: true });
  }

  /** Each user loses only their own sessions. */
  #forgetOldest(user: string | undefined): void {
    if (this.#created.size <= maxMade) return;
    const own = [...this.#created].filter(([, session]) => session.user === user);
    if (own.length > maxMade) this.#created.delete(own[0]?.[0] ?? '');
  }

  /** Returns to whom a session belongs; undefined if it does not exist. */
  async #find(id: string, token: TokenInfo | undefined): Promise<OwnedSession | undefined> {
    const live = this.#live.get(id);
    // While it runs here, no other process can delete it. But others can change with whom it is shared.
    if (live?.run !== undefined && token !== undefined && owns(token, live)) return live;
    const info = await this.#options.store.info(id);
    return info === undefined ? this.#created.get(id) : await this.#owned(info);
  }

  /** An empty session belongs to its creator; another process may have started one that was created here. */
  async #owned(info: SessionInfo): Promise<OwnedSession> {
    const { id, events, createdAt } = info;
    if (events === 0) return { ...(this.#created.get(id) ?? info), ...defined({ shares: info.shares }) };
    if (info.user !== undefined) return info;
    // Stores of earlier versions kept the user only in the events.
    const key = `${createdAt} ${id}`;
    if (!this.#read.has(key)) {
      const [first] = await this.#options.store.read(id, 0, 1);
      this.#read.set(key, first?.user);
      const [oldest = key] = this.#read.keys();
      if (this.#read.size > maxRead) this.#read.delete(oldest);
    }
    return { user: this.#read.get(key), events, ...defined({ shares: info.shares }) };
  }

  async #joinRun(session: LiveSession): Promise<LiveSession> {
    await session.join();
    return session;
  }

  async #open(id: string, found: OwnedSession): Promise<LiveSession> {
    const refusal = this.#live.has(id) ? undefined : await this.#options.places?.open(id);
    const known = this.#live.get(id);
    if (known !== undefined) {
      known.belongTo(found);
      known.usedAt = ++this.#clock;
      return known;
    }
    if (this.#live.size >= this.#options.limits.sessions) this.#evictOldest();
    const session: LiveSession = new LiveSession(
      id,
      found,
      this.#options.store,
      (onEvent) => this.#harness(id, onEvent),
      (event) => {
        if (event.type === 'user') this.#created.delete(id);
        this.#options.onEvent(id, event);
      },
      { ...this.#options, ...defined({ refusal }), runsOf: (user) => this.runsOf(user, session) },
    );
    session.usedAt = ++this.#clock;
    this.#live.set(id, session);
    return session;
  }

  #evictOldest(): void {
    let oldest: LiveSession | undefined;
    for (const session of this.#live.values()) {
      if (session.isIdle && (oldest === undefined || session.usedAt < oldest.usedAt)) oldest = session;
    }
    if (oldest === undefined) {
      const headers = { 'retry-after': '5' };
      throw new Problem(
        503,
        'too_many_sessions',
        'Too many sessions are in use. Try again when one of them is idle.',
        { headers },
      );
    }
    this.#live.delete(oldest.id);
  }

  #harness(sessionId: string, onSessionEvent: (event: RunEvent) => void): OpenSession {
    const { store, elsewhere, logger, meters } = this.#options;
    const settings = this.#options.settings(sessionId);
    const { user } = settings;
    const spans = new RunSpans(sessionId);
    const handler: HarnessHandler = {
      onEvent: (event) => {
        // Runs that may execute elsewhere are reported only from the log, so that each event is reported once and in
        // order.
        if (elsewhere === undefined || !isStored(event)) onSessionEvent(event);
        else void this.publishOthers(sessionId).catch(() => undefined);
        meters.handle(event);
        spans.handle(event);
      },
    };
    const report = (error: AgentError) =>
      logger.note('error', 'an event could not be displayed', { reason: error.message });
    const common = { store, sessionId, handler, report };
    if (elsewhere === undefined) return { harness: createHarness({ ...settings, ...common }), user };
    const executor = sessionExecutor(settings, store);
    return { harness: runnerHarness({ ...elsewhere, ...common, executor }), user };
  }
}

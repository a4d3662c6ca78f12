import type { Event, Run, RunEvent, SessionStore, UserPart } from '@cobbler/agent';
import { isStored, openSession } from '@cobbler/agent';
import type { FollowedRun, HarnessResumeOptions, SharedStore } from '@cobbler/agent/harness';
import { followRun, receiveRequests, sharedStore } from '@cobbler/agent/harness';
import { defined } from '@cobbler/agent/values';
import type { OwnedSession } from '../auth/access.ts';
import { mayAccess, userOf } from '../auth/access.ts';
import type { TokenInfo, TokenStore } from '../auth/token-store.ts';
import { busyProblem, Problem, problemOf } from '../requests/problem.ts';
import { Broadcast } from './broadcast.ts';
import type { KnownRun } from './known-runs.ts';
import { digestOf, KnownRuns } from './known-runs.ts';
import type { ReadLog } from './log-pages.ts';
import { pageLength } from './log-pages.ts';
import type { Accepted, PromptContent, SessionServices } from './session-ports.ts';
import { SessionUsageCounter } from './session-usage.ts';
import type { JoinableHarness, OpenSession } from './session-work.ts';
import type { TokenBudgets } from './token-budgets.ts';

/** One session in memory: its conversation and all its clients. */
export class LiveSession {
  readonly id: string;
  readonly broadcast: Broadcast;
  /** Its usage when last computed. */
  usage: SessionUsageCounter = new SessionUsageCounter();
  /** Time of the last request, on a monotonic clock. */
  usedAt = 0;
  readonly #store: SessionStore;
  readonly #open: () => OpenSession;
  #harness: JoinableHarness;
  /** The user of the settings. */
  #user: string | undefined;
  /** True if the settings have changed since the conversation was opened. */
  #isOutdated = false;
  #access: OwnedSession;
  readonly #listeners = new Set<(event: RunEvent) => void>();
  readonly #starting = new Map<string, Promise<Accepted>>();
  readonly #known = new KnownRuns();
  readonly #onEvent: (event: RunEvent) => void;
  readonly #budgets: TokenBudgets;
  readonly #tokens: Pick<TokenStore, 'list'>;
  readonly #runsOf: SessionServices['runsOf'];
  readonly #refusal: string | undefined;
  #run: Run | undefined;
  /** The active run if another process executes it; its events are in the log. */
  #followed: FollowedRun | undefined;
  readonly #shared: SharedStore | undefined;
  /** Version of the store when it was last searched for a run of another process. */
  #searched = '';
  /** The users for whom runs are about to start. */
  readonly #startsFor: (string | undefined)[] = [];
  /** The user for whom the run that this server started last is. */
  #runUser: string | undefined;
  /** True while something that no run may see half done is in progress. */
  #isHeld = false;
  #showing: Promise<unknown> = Promise.resolve();
  /** Events of a run here that wait until earlier events of other processes have been published. */
  #held: RunEvent[] | undefined;

  /**
   * @param open creates the conversation, which passes every event to the given function.
   * @param onEvent receives every event as it is published, from any process.
   */
  constructor(
    id: string,
    { user, shares }: OwnedSession,
    store: SessionStore,
    open: (onEvent: (event: RunEvent) => void) => OpenSession,
    onEvent: (event: RunEvent) => void,
    { budgets, tokens, runsOf, refusal }: SessionServices,
  ) {
    this.#refusal = refusal;
    this.id = id;
    this.#access = { user, shares };
    this.#store = store;
    this.#shared = sharedStore(store);
    this.#onEvent = onEvent;
    this.#budgets = budgets;
    this.#tokens = tokens;
    this.#runsOf = runsOf;
    const read: ReadLog = (afterSeq, limit) => this.#readLog(afterSeq, limit);
    // Held events are published later, so a client that joins now receives them then, and only once.
    this.broadcast = new Broadcast(read, () => (this.#held === undefined ? (this.#run?.soFar ?? []) : []));
    this.#open = () => open((event) => this.#handle(event));
    ({ harness: this.#harness, user: this.#user } = this.#open());
  }

  /** Makes the next run use the current settings. An active run keeps its own. */
  renew(): void {
    this.#isOutdated = true;
  }

  /** The user to whom it belongs. */
  get user(): string | undefined {
    return this.#access.user;
  }

  /** The users with whom it is shared. */
  get shares(): OwnedSession['shares'] {
    return this.#access.shares;
  }

  /**
   * Changes to whom it belongs, or with whom it is shared: its shares have changed, it was new and another user sent the
   * first prompt, or another process has replaced it. Ends the streams of all who may not read it now.
   */
  belongTo({ user, shares }: OwnedSession): void {
    const isOther = user !== this.user;
    if (!isOther && JSON.stringify(shares) === JSON.stringify(this.shares)) return;
    this.#access = { user, shares };
    if (isOther) {
      this.usage = new SessionUsageCounter();
      this.#known.forget();
    }
    // The list lacks tokens that have just expired, whose streams are still open.
    const may = this.#tokens.list().filter((token) => mayAccess(token, this.#access));
    this.broadcast.end((tokenId) => may.some(({ id }) => id === tokenId));
  }

  get run(): Run | undefined {
    return this.#run;
  }

  /** The active run if this process must not end before it. */
  get ownRun(): Run | undefined {
    return this.#followed === undefined ? this.#run : undefined;
  }

  /** True if it can be closed without losing anything. */
  get isIdle(): boolean {
    const isStarting = this.#starting.size > 0 || this.#startsFor.length > 0;
    return this.#run === undefined && this.broadcast.size === 0 && !isStarting;
  }

  /**
   * Sends a prompt. Resolves once it is committed. With the id of a started run, it starts nothing and returns that
   * run.
   * @throws Problem 409 `busy`, or `other_content` for an id that was used for another prompt; 429 `budget` or
   *   `running_sessions` if a limit of the token is reached.
   */
  async prompt(content: PromptContent, token: TokenInfo | undefined, runId?: string): Promise<Accepted> {
    if (runId === undefined) return await this.#start(content, token);
    const before = (await this.#knownRuns()).get(runId);
    if (before !== undefined) return this.#repeatPrompt(before, content, runId);
    const starting = this.#starting.get(runId);
    if (starting !== undefined) {
      const accepted = await starting;
      const known = (await this.#knownRuns()).get(runId);
      return this.#repeatPrompt({ seq: accepted.seq, digest: known?.digest ?? '' }, content, runId);
    }
    const started = this.#start(content, token, runId);
    this.#starting.set(runId, started);
    try {
      return await started;
    } finally {
      this.#starting.delete(runId);
    }
  }

  /** Returns the run that a prompt started under this id; undefined if there is none. */
  async findRun(runId: string): Promise<Accepted | undefined> {
    const known = (await this.#knownRuns()).get(runId);
    return known === undefined ? undefined : { sessionId: this.id, runId, seq: known.seq };
  }

  /**
   * Continues a run that was cut off or waits. Resolves once that is committed. It counts for the user to whom the session
   * belongs, so that another user can always decide an approval.
   */
  async resume(options: HarnessResumeOptions, token: TokenInfo | undefined): Promise<Accepted> {
    return await this.#startFor(this.user, token, async () => {
      const budget = await this.#budgets.ofSession(this.id);
      return await this.#accept(this.#harness.resume({ ...options, ...defined({ budget }) }));
    });
  }

  /** Does something while no run of this session works or starts. @throws Problem 409 `busy` during a run. */
  async whileIdle<Done>(work: () => Promise<Done>): Promise<Done> {
    if (this.#run !== undefined || this.#startsFor.length > 0 || this.#isHeld)
      throw busyProblem(this.#run?.id);
    this.#isHeld = true;
    return await work().finally(() => {
      this.#isHeld = false;
    });
  }

  /** True if a run for this user is active or about to start. */
  runsFor(user: string): boolean {
    return this.#startsFor.includes(user) || (this.#run !== undefined && this.#runUser === user);
  }

  /** @throws Problem 429 `running_sessions` if as many sessions run for the user as the token allows its own user. */
  async #startFor(
    user: string | undefined,
    token: TokenInfo | undefined,
    start: () => Promise<Accepted>,
  ): Promise<Accepted> {
    if (this.#refusal !== undefined) throw new Problem(409, 'unusable_folder', this.#refusal);
    // The log may already contain its end.
    if (this.#followed !== undefined) await this.publishOthers();
    if (this.#followed !== undefined || this.#isHeld) throw busyProblem(this.#followed?.run.id);
    // While a run is active, this one is refused or only passes on decisions.
    const isNew = this.#run === undefined;
    if (isNew) {
      const max = token?.runningSessions ?? Infinity;
      if (token !== undefined && user === userOf(token) && this.#runsOf(user) >= max) {
        const detail = `At most ${max} sessions can run for this user at the same time. Wait until one has ended, or cancel it.`;
        throw new Problem(429, 'running_sessions', detail, { headers: { 'retry-after': '5' } });
      }
    }
    if (this.#isOutdated && isNew && this.#startsFor.length === 0) {
      this.#isOutdated = false;
      ({ harness: this.#harness, user: this.#user } = this.#open());
    }
    this.#startsFor.push(user);
    try {
      const accepted = await start();
      if (isNew && accepted.runId === this.#run?.id) this.#runUser = user;
      return accepted;
    } finally {
      this.#startsFor.splice(this.#startsFor.indexOf(user), 1);
    }
  }

  async #start(content: PromptContent, token: TokenInfo | undefined, runId?: string): Promise<Accepted> {
    const user = this.#userOf(token);
    return await this.#startFor(token && userOf(token), token, async () => {
      // While a run is active, this one is refused, and the budget of the session must stay.
      const budget = this.#run === undefined ? await this.#budgets.ofPrompt(this.id, token) : undefined;
      return await this.#accept(this.#harness.prompt(content, defined({ runId, budget, user })));
    });
  }

  /** Follows the active run of another process, if runs can execute there. */
  async join(): Promise<void> {
    if (this.#harness.join === undefined) return await this.#followShared();
    // This runs on every request, so open the log only if there may be something new in it.
    if (this.broadcast.lastSeq === undefined)
      this.broadcast.begin((await openSession(this.#store, this.id)).seq);
    const joined = this.#run === undefined ? await this.#harness.join() : undefined;
    if (joined === undefined || this.#run !== undefined) return;
    // Limits count the runs that a server itself has started.
    this.#runUser = undefined;
    this.#watch(joined.run);
  }

  async #followShared(): Promise<void> {
    const isFree = () => this.#run === undefined && this.#startsFor.length === 0;
    const version = this.#shared?.version();
    if (this.#shared === undefined || version === this.#searched || !isFree()) return;
    const joined = await followRun(this.#shared, this.id);
    this.#searched = version ?? '';
    if (joined === undefined || !isFree()) return;
    this.#runUser = undefined;
    this.#followed = joined;
    // Only an end that no log contains is not published from there.
    joined.run.subscribe((event) => !isStored(event) && event.type === 'finished' && this.#show(event));
    this.#watch(joined.run);
  }

  /** Sends a message to the active run. Returns false if no run is active, or if it ends without the message. */
  async steer(content: PromptContent): Promise<boolean> {
    return (await this.#followed?.steer(content)) ?? this.#harness.steer(content);
  }

  /** Creates another session that begins like this one and belongs to the user of the token. Returns its id. */
  async fork(upToSeq: number | undefined, token: TokenInfo | undefined): Promise<string> {
    const fork = await this.#harness.fork(defined({ upToSeq, user: this.#userOf(token) }));
    return fork.sessionId;
  }

  /** The settings know the user if one token is for several. */
  #userOf(token: TokenInfo | undefined): string | undefined {
    return this.#user ?? (token && userOf(token));
  }

  /** Calls the listener synchronously for every later event; it must not throw. Returns a function that unsubscribes. */
  listen(listener: (event: RunEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Publishes the events that another process wrote. It may also have ended a share. */
  publishOthers(): Promise<void> {
    return this.#inTurn(async () => {
      if (this.shares !== undefined && !this.isIdle)
        this.belongTo({ user: this.user, shares: (await this.#store.info(this.id))?.shares });
      await this.#publishMissed();
      if (this.broadcast.size > 0) await this.#followShared();
    });
  }

  /** Cancels the active run and rejects new ones. */
  async close(): Promise<void> {
    await this.#harness.close();
  }

  /** Runs the calls one after another, because two that read the same part of the log would both publish it. */
  #inTurn(show: () => Promise<void>): Promise<void> {
    const shown = this.#showing.then(show);
    this.#showing = shown.catch(() => undefined);
    return shown;
  }

  async #publishMissed(): Promise<void> {
    // A run here publishes its own events.
    const publishesItself = () => this.ownRun !== undefined && this.#harness.join === undefined;
    for (let read = pageLength; read === pageLength; ) {
      if (publishesItself()) return;
      const events = await this.broadcast.readMissed();
      if (publishesItself()) return;
      for (const event of events) this.#show(event);
      read = events.length;
    }
  }

  /** Reads events for clients. Another process may have written them, so this also reads to whom they belong. */
  async #readLog(afterSeq: number, limit: number): Promise<readonly Event[]> {
    const page = await this.#store.read(this.id, afterSeq, limit);
    if (page.length === 0) return page;
    const [first] = afterSeq === 0 ? page : await this.#store.read(this.id, 0, 1);
    this.#replaceOwner(first?.user);
    return page;
  }

  /** The shares of a user end when the session belongs to another one. */
  #replaceOwner(user: string | undefined): void {
    if (user !== this.user) this.belongTo({ user });
  }

  #handle(event: RunEvent): void {
    if (this.#held !== undefined) {
      this.#held.push(event);
    } else if (isStored(event) && event.seq > (this.broadcast.lastSeq ?? event.seq) + 1) {
      this.#held = [event];
      void this.#inTurn(() => this.#catchUp(event.seq)).catch(() => undefined);
    } else this.#show(event);
  }

  /** Publishes the events of other processes before an event, then that event and those that have arrived since. */
  async #catchUp(before: number): Promise<void> {
    try {
      for (let last = this.broadcast.lastSeq; last !== undefined && last < before - 1; ) {
        const events = await this.#store.read(this.id, last, Math.min(pageLength, before - 1 - last));
        if (events.length === 0) break;
        for (const event of events) this.#show(event);
        last = this.broadcast.lastSeq;
      }
    } finally {
      // If the log could not be read, the broadcast ends the streams, and their clients reconnect for the rest.
      const held = this.#held ?? [];
      this.#held = undefined;
      const shown = this.broadcast.lastSeq ?? 0;
      for (const event of held) if (!isStored(event) || event.seq > shown) this.#show(event);
    }
  }

  #show(event: RunEvent): void {
    if (isStored(event)) {
      if (event.seq === 1) this.belongTo({ user: event.user });
      this.#known.note(event);
    }
    // A client that has seen the end may send the next prompt immediately.
    if (event.type === 'finished' && event.runId === this.#followed?.run.id) this.#end(this.#followed.run);
    this.broadcast.publish(event);
    for (const listener of this.#listeners) listener(event);
    this.#onEvent(event);
  }

  async #accept(run: Run): Promise<Accepted> {
    const other = this.#run;
    if (other === undefined) this.#watch(run);
    for await (const event of run) {
      if (!isStored(event)) continue;
      if (event.type === 'finished') break;
      this.#watch(run);
      return { sessionId: this.id, runId: run.id, seq: event.seq };
    }
    const { error } = await run.result;
    throw problemOf(error, error?.code === 'busy' && other !== undefined ? { runId: other.id } : {});
  }

  #watch(run: Run): void {
    if (this.#run === run) return;
    this.#run = run;
    if (this.#shared !== undefined && this.#followed === undefined && this.#harness.join === undefined)
      receiveRequests(this.#shared, run);
    void run.result.then(() => this.#end(run));
  }

  #end(run: Run): void {
    if (this.#run !== run) return;
    this.#run = undefined;
    this.#followed = undefined;
  }

  #repeatPrompt(before: KnownRun, content: PromptContent, runId: string): Accepted {
    const parts: readonly UserPart[] =
      typeof content === 'string' ? [{ type: 'text', text: content }] : content;
    if (digestOf(parts) === before.digest) return { sessionId: this.id, runId, seq: before.seq };
    const detail =
      'This Idempotency-Key was used for another prompt in this session. Use a new key for each prompt.';
    throw new Problem(409, 'other_content', detail, { extra: { runId } });
  }

  async #knownRuns(): Promise<ReadonlyMap<string, KnownRun>> {
    // Another process may have started it since.
    if (this.#known.isUsed) await this.publishOthers();
    const read: ReadLog = (after, limit) => this.#store.read(this.id, after, limit);
    return await this.#known.all(read, (seq) => this.broadcast.begin(seq));
  }
}

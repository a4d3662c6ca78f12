import type {
  Event,
  EventBody,
  FinishedEvent,
  RunStatus,
  UnstoredEnd,
  UnstoredEvent,
} from '../events/event.ts';
import { isStored } from '../events/event.ts';
import { fold, foldUnstored } from '../events/fold.ts';
import type { State } from '../events/state.ts';
import { copyState } from '../events/state.ts';
import type { Store } from '../store/store.ts';
import { AgentError } from '../values/errors.ts';
import type { Runtime } from '../values/runtime.ts';
import { isoTime } from '../values/runtime.ts';

/** A session that this run has taken over. */
export interface Claim {
  /** What to write with. */
  readonly epoch: number;
  /** What its events so far give. */
  readonly state: State;
}

/** What an append has to be sure of. */
export interface AppendOptions {
  /** Something follows that must not happen twice, even if the power fails: see `durable` of the store's writer. */
  readonly durable?: boolean;
}

/** What the log of one run needs. */
export interface LogOptions {
  readonly store: Store;
  readonly sessionId: string;
  readonly runId: string;
  /** Takes the session over. */
  readonly claim: () => Promise<Claim>;
  /** The run's first events, in view of what the session holds. When it throws, the run fails with that. */
  readonly open: (state: State) => readonly EventBody[];
  /** Empty; the log brings it up to date and keeps it so. */
  readonly state: State;
  readonly runtime: Runtime;
  /** How long one append may take, in milliseconds, before the store counts as dead. */
  readonly storeTimeoutMs: number;
  /** Gets each event once it is committed and folded, or the end that the store has not. */
  readonly publish: (event: Event | UnstoredEnd) => void;
  /** Called once, when the log fails. */
  readonly onFailure: (error: AgentError) => void;
}

/**
 * The one writer of a run. Invariants:
 *
 * L1 sequence numbers are given here and nowhere else, without gaps, and nothing is shown with one that the store
 *    has not accepted;
 * L2 one append is in flight at a time; what comes meanwhile shares the next one;
 * L3 an event is folded and shown only after the store has accepted it;
 * L4 once the store has failed nothing is sent to it any more: events are folded in memory without a place, so that
 *    the run can end, and only its end is shown; a good end that could not be stored is a failure;
 * L5 nothing is written after the `finished` event, or once the run is left.
 */
export class Log {
  readonly #options: LogOptions;
  #queue: EventBody[] = [];
  #inFlight: readonly Event[] = [];
  #draining: Promise<void> = Promise.resolve();
  #opened = false;
  #busy = false;
  #closed = false;
  #failure: AgentError | undefined;
  #epoch: number | undefined;
  /** Whether what is queued has to be durable. */
  #durable = false;

  constructor(options: LogOptions) {
    this.#options = options;
  }

  /** Why the log takes no more events, if it has failed. */
  get failure(): AgentError | undefined {
    return this.#failure;
  }

  /** Whether the run is over. */
  get closed(): boolean {
    return this.#closed;
  }

  /** Whether events wait to be stored and folded. */
  get busy(): boolean {
    return this.#busy;
  }

  /** Takes the session over and writes the run's first events. */
  open(): void {
    this.#draining = this.#drain();
  }

  /**
   * Appends events and resolves when everything appended so far has been folded. Never rejects.
   * Resolves with false when the run is over and nothing was written.
   */
  async append(events: readonly EventBody[], { durable = false }: AppendOptions = {}): Promise<boolean> {
    if (this.#closed) return false;
    this.#queue.push(...events);
    this.#durable ||= durable;
    if (!this.#busy) this.#draining = this.#drain();
    await this.#draining;
    return true;
  }

  /**
   * The same for the driver's own steps, without a promise when nothing else waits and the store answers at once.
   * Watchers are then called from within, so it must not be called from a watcher.
   */
  record(events: readonly EventBody[], options: AppendOptions = {}): boolean | Promise<boolean> {
    if (this.#closed || this.#busy || !this.#opened) return this.append(events, options);
    if (events.length === 0) return true;
    this.#busy = true;
    this.#durable ||= options.durable === true;
    const batch = this.#stamp(events, this.#options.state.seq);
    const pending = this.#commit(batch);
    if (pending !== undefined) {
      this.#draining = pending.then(() => this.#take(batch)).then(() => this.#drain());
      return this.#draining.then(() => true);
    }
    this.#take(batch);
    if (this.#queue.length === 0) {
      this.#busy = false;
      return true;
    }
    // A watcher has said something.
    this.#draining = this.#drain();
    return this.#draining.then(() => true);
  }

  /** Appends the run's last event: nothing can be written after it, however slow the store. */
  async finish(event: FinishedEvent): Promise<void> {
    const written = this.append([event]);
    this.#closed = true;
    await written;
  }

  /** Takes nothing more: the run is left, to be gone on with later. */
  close(): void {
    this.#closed = true;
  }

  /** Waiting has ended: an end that the store has not accepted by now is a failure. */
  leave(): void {
    const last = this.#queue.at(-1) ?? this.#inFlight.at(-1);
    if (last?.type !== 'finished' || endsAnyway.has(last.status)) return;
    this.#fail(storeFailure(new Error('it did not take the end of the run in time')));
  }

  /** Resolves when everything appended so far has been folded. Something new may have come by then. */
  async settled(): Promise<void> {
    await this.#draining;
  }

  /** A copy of the state as it will be once everything appended so far has been folded. */
  foreseen(): State {
    const state = copyState(this.#options.state);
    for (const event of this.#inFlight) this.#fold(state, event);
    const first = this.#opened ? [] : this.#firstEvents(state);
    const queued = this.#stamp([...first, ...this.#queue], state.seq);
    for (const event of queued) this.#fold(state, event);
    return state;
  }

  async #drain(): Promise<void> {
    this.#busy = true;
    if (!this.#opened) await this.#begin();
    while (this.#queue.length > 0) {
      const batch = this.#stamp(this.#queue.splice(0), this.#options.state.seq);
      // Also a store that answers at once is waited for: whoever appends may be a watcher who is being called.
      await this.#commit(batch);
      this.#take(batch);
    }
    this.#busy = false;
  }

  /** Folds and shows what the store has answered about. */
  #take(batch: readonly Event[]): void {
    this.#inFlight = [];
    for (const event of batch) this.#accept(event);
    this.#offerSnapshot();
  }

  #accept(event: Event): void {
    const { state, publish } = this.#options;
    const shown = this.#fold(state, event);
    if (isStored(shown) || shown.type === 'finished') publish(shown);
  }

  /** Folds what was offered to the store: as it is there, or as what is not there. Gives which of them it was. */
  #fold(state: State, offered: Event): Event | UnstoredEvent {
    if (this.#failure === undefined) {
      fold(state, offered);
      return offered;
    }
    const unstored = asUnstored(offered, this.#failure);
    foldUnstored(state, unstored);
    return unstored;
  }

  async #begin(): Promise<void> {
    const { state, claim } = this.#options;
    try {
      const { epoch, state: before } = await this.#inTime(claim());
      this.#epoch = epoch;
      Object.assign(state, before);
    } catch (error) {
      this.#fail(claimFailure(error));
    }
    this.#queue.unshift(...this.#firstEvents(state, (error) => this.#fail(error)));
    this.#opened = true;
  }

  #firstEvents(state: State, onError?: (error: AgentError) => void): readonly EventBody[] {
    try {
      return this.#options.open(state);
    } catch (error) {
      onError?.(AgentError.from(error));
      return [];
    }
  }

  #stamp(bodies: readonly EventBody[], after: number): Event[] {
    const { sessionId, runId, runtime } = this.#options;
    const time = isoTime(runtime.now());
    return bodies.map((body, offset) => {
      const seq = after + offset + 1;
      return { v: 1, seq, id: `${sessionId}-${seq}`, time, runId, ...body };
    });
  }

  /** Hands events to the store. What it returns, if anything, resolves when the store has answered; never rejects. */
  #commit(batch: readonly Event[]): Promise<void> | undefined {
    this.#inFlight = batch;
    if (this.#failure !== undefined || this.#epoch === undefined) return undefined;
    const { store, sessionId } = this.#options;
    const durable = this.#durable;
    this.#durable = false;
    const failed = (error: unknown) => this.#fail(storeFailure(error));
    try {
      const pending = store.append(sessionId, batch, { epoch: this.#epoch, durable });
      return pending === undefined ? undefined : this.#inTime(pending).catch(failed);
    } catch (error) {
      failed(error);
      return undefined;
    }
  }

  /** A state with events that the store has not taken is none that it may keep. */
  #offerSnapshot(): void {
    const { store, sessionId, state } = this.#options;
    const epoch = this.#failure === undefined ? this.#epoch : undefined;
    if (epoch !== undefined) store.keepSnapshot?.(sessionId, state, { epoch });
  }

  /** A store that never answers must not hold up a run for ever. */
  #inTime<Value>(pending: Promise<Value>): Promise<Value> {
    const { runtime, storeTimeoutMs } = this.#options;
    return new Promise((resolve, reject) => {
      const late = () => reject(new Error(`it did not answer within ${storeTimeoutMs} ms`));
      const cancel = runtime.timer(storeTimeoutMs, late);
      pending.then(resolve, reject).finally(cancel);
    });
  }

  #fail(error: AgentError): void {
    if (this.#failure !== undefined) return;
    this.#failure = error;
    this.#options.onFailure(error);
  }
}

/** A session that cannot be had says why by itself: the store is all right. */
function claimFailure(error: unknown): AgentError {
  const isRefusal = AgentError.is(error) && (error.code === 'in_use' || error.code === 'session_id');
  return isRefusal ? error : storeFailure(error);
}

function storeFailure(error: unknown): AgentError {
  const cause = AgentError.from(error);
  return new AgentError({
    kind: 'agent',
    code: cause.code === 'fenced' ? 'fenced' : 'store',
    message: `The event store failed: ${cause.message}`,
    cause: { name: cause.name, message: cause.message },
  });
}

/** A good end that cannot be read again later is none. A run that was told to stop has done so all the same. */
function asUnstored({ seq: _, id: __, ...event }: Event, failure: AgentError): UnstoredEvent {
  if (event.type !== 'finished' || endsAnyway.has(event.status)) return event;
  const { limit: ___, ...rest } = event;
  return { ...rest, status: 'failed', error: failure.toJSON() };
}

const endsAnyway: ReadonlySet<RunStatus> = new Set<RunStatus>(['cancelled', 'timeout', 'failed']);

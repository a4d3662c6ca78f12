import type {
  Event,
  EventBody,
  FinishedEvent,
  RunStatus,
  UnstoredEnd,
  UnstoredEvent,
} from '../events/event.ts';
import { fold, foldUnstored } from '../events/fold.ts';
import type { State } from '../events/state.ts';
import { copyState } from '../events/state.ts';
import type { Store } from '../store/store.ts';
import { storeFailure } from '../store/store.ts';
import { AgentError } from '../values/errors.ts';
import { amount, read } from '../values/input.ts';
import { frozen } from '../values/owned.ts';
import type { Runtime } from '../values/runtime.ts';
import { isoTime } from '../values/runtime.ts';

/** A session that this run has claimed. */
export interface Claim {
  /** The epoch to write with. */
  readonly epoch: number;
  /** The state computed from its events so far. */
  readonly state: State;
}

/** The guarantees that an append needs. */
export interface AppendOptions {
  /** The next step must not happen twice, even after a power failure: see `durable` of the store's writer. */
  readonly durable?: boolean;
}

/** The part of a run's configuration that its log needs. */
export interface LogConfig {
  readonly store: Store;
  readonly sessionId: string;
  readonly runId: string;
  readonly user?: string;
  /** Returns the first events of the run for the state of the session. If it throws, the run fails with that error. */
  readonly open: (state: State) => readonly EventBody[];
  readonly runtime: Runtime;
  /** Maximum time of one append, in milliseconds, before the store counts as failed. */
  readonly storeTimeoutMs: number;
}

/** The run that a log belongs to. */
export interface LogOwner {
  /** Initially empty; the log keeps it up to date. */
  readonly state: State;
  claim(): Promise<Claim>;
  /** Receives each event once it is committed and folded, or the end that the store does not contain. */
  publish(event: Event | UnstoredEnd): void;
  /** Called once, if the log fails. */
  onFailure(error: AgentError): void;
}

/**
 * The only writer of a run. Invariants:
 *
 * L1 only the log assigns sequence numbers, without gaps, and no event is shown with one that the store has not
 * accepted;
 * L2 one append is in flight at a time; events that arrive in the meantime share the next one;
 * L3 an event is folded and shown only after the store has accepted it;
 * L4 once the store has failed, nothing more is sent to it: events are folded in memory without a position, so that
 * the run can end, and only its end is shown; a successful end that could not be stored is a failure;
 * L5 nothing is written after the `finished` event, or once the run is left.
 */
export class Log {
  readonly #config: LogConfig;
  readonly #owner: LogOwner;
  #queue: EventBody[] = [];
  #inFlight: readonly Event[] = [];
  #draining: Promise<void> = Promise.resolve();
  #opened = false;
  // Fields, because getters would be calls in every turn: three more functions. The driver holds the log as `Readonly<Log>`, so
  // that only the log writes them.
  /** True if events wait to be stored and folded. */
  busy = false;
  /** True once the run has ended or is left. */
  closed = false;
  /** The reason why the log accepts no more events, if it has failed. */
  failure: AgentError | undefined = undefined;
  #epoch: number | undefined;
  /** True if the queued events must be durable. */
  #durable = false;

  constructor(config: LogConfig, owner: LogOwner) {
    this.#config = config;
    this.#owner = owner;
  }

  /** Claims the session and writes the first events of the run. */
  open(): void {
    this.#draining = this.#drain();
  }

  /**
   * Appends events and resolves when everything appended so far has been folded. Never rejects. Resolves with false
   * if the run has ended and nothing was written, or if the log has failed.
   */
  async append(events: readonly EventBody[], { durable = false }: AppendOptions = {}): Promise<boolean> {
    if (this.closed) return false;
    this.#queue.push(...events);
    this.#durable ||= durable;
    if (!this.busy) this.#draining = this.#drain();
    await this.#draining;
    return this.failure === undefined;
  }

  /**
   * Like `append`, for the driver's own steps. Returns no promise if nothing else waits and the store is synchronous.
   * Listeners are then called before it returns, so a listener must not call it.
   */
  record(events: readonly EventBody[], options?: AppendOptions): boolean | Promise<boolean> {
    if (this.closed || this.busy || !this.#opened) return this.append(events, options);
    if (events.length === 0) return this.failure === undefined;
    this.busy = true;
    if (options?.durable === true) this.#durable = true;
    const batch = this.#stamp(events, this.#owner.state.seq);
    const pending = this.#commit(batch);
    if (pending !== undefined) return this.#drainAfter(pending.then(() => this.#take(batch)));
    this.#take(batch);
    // A listener may have appended an event.
    if (this.#queue.length > 0) return this.#drainAfter(undefined);
    this.busy = false;
    return this.failure === undefined;
  }

  async #drainAfter(taken: Promise<void> | undefined): Promise<boolean> {
    this.#draining = taken === undefined ? this.#drain() : taken.then(() => this.#drain());
    await this.#draining;
    return this.failure === undefined;
  }

  /** Appends the last event of the run. Nothing can be written after it, however slow the store is. */
  async finish(event: FinishedEvent): Promise<void> {
    const written = this.append([event]);
    this.closed = true;
    await written;
  }

  /** Accepts no more events: the run is left, to be continued later. */
  close(): void {
    this.closed = true;
  }

  /** Stops waiting: an end that has not been stored by now is a failure. */
  leave(): void {
    const last = this.#queue.at(-1) ?? this.#inFlight.at(-1);
    if (last?.type !== 'finished' || endsAnyway.includes(last.status)) return;
    this.#fail(storeFailure(new Error('it did not store the end of the run in time')));
  }

  /** Resolves when everything appended so far has been folded. More events may have arrived by then. */
  async untilSettled(): Promise<void> {
    await this.#draining;
  }

  /** Returns a copy of the state as it will be once everything appended so far has been folded. */
  foreseen(): State {
    const state = copyState(this.#owner.state);
    for (const event of this.#inFlight) this.#foldOffered(state, event);
    const first = this.#opened ? [] : this.#firstEvents(state);
    const queued = this.#stamp([...first, ...this.#queue], state.seq);
    for (const event of queued) this.#foldOffered(state, event);
    return state;
  }

  async #drain(): Promise<void> {
    this.busy = true;
    if (!this.#opened) await this.#begin();
    while (this.#queue.length > 0) {
      const batch = this.#stamp(this.#queue.splice(0), this.#owner.state.seq);
      // A synchronous store is awaited too, because the caller may be a listener that is being called.
      await this.#commit(batch);
      this.#take(batch);
    }
    this.busy = false;
  }

  /** Folds and shows a batch after the store has responded. */
  #take(batch: readonly Event[]): void {
    const { state } = this.#owner;
    this.#inFlight = nothing;
    for (const event of batch) {
      if (this.failure === undefined) {
        fold(state, event);
        this.#owner.publish(event);
        continue;
      }
      const unstored = this.#foldOffered(state, event);
      if (unstored?.type === 'finished') this.#owner.publish(unstored);
    }
    this.#offerSnapshot();
  }

  /** Folds an event that was offered to the store. If the store has failed, folds and returns it without a position. */
  #foldOffered(state: State, offered: Event): UnstoredEvent | undefined {
    if (this.failure === undefined) {
      fold(state, offered);
      return undefined;
    }
    const unstored = asUnstored(offered, this.failure);
    foldUnstored(state, unstored);
    return unstored;
  }

  async #begin(): Promise<void> {
    const { state } = this.#owner;
    try {
      const { epoch, state: before } = await this.#inTime(this.#owner.claim());
      this.#epoch = read(epoch, amount, 'store.claim()', 'store');
      Object.assign(state, before);
    } catch (error) {
      this.#fail(claimFailure(error));
    }
    this.#queue.unshift(...this.#firstEvents(state, (error) => this.#fail(error)));
    this.#opened = true;
  }

  #firstEvents(state: State, onError?: (error: AgentError) => void): readonly EventBody[] {
    try {
      return this.#config.open(state);
    } catch (error) {
      onError?.(AgentError.from(error));
      return [];
    }
  }

  #stamp(bodies: readonly EventBody[], after: number): Event[] {
    const { sessionId, runId, runtime } = this.#config;
    const time = isoTime(runtime.now());
    const user = this.#config.user ?? this.#owner.state.user;
    const head = user === undefined ? {} : { user };
    const events: Event[] = [];
    for (const body of bodies) {
      const seq = after + events.length + 1;
      events.push({ v: 1, seq, id: `${sessionId}-${seq}`, time, runId, ...head, ...body });
    }
    // Readers, the store and the state share them.
    return frozen(events);
  }

  /** Passes events to the store. A returned promise resolves when the store has responded; it never rejects. */
  #commit(batch: readonly Event[]): Promise<void> | undefined {
    this.#inFlight = batch;
    if (this.failure !== undefined || this.#epoch === undefined) return undefined;
    const { store, sessionId } = this.#config;
    const durable = this.#durable;
    this.#durable = false;
    try {
      const pending = store.append(sessionId, batch, { epoch: this.#epoch, durable });
      return pending === undefined ? undefined : this.#acceptedInTime(pending);
    } catch (error) {
      this.#fail(storeFailure(error));
      return undefined;
    }
  }

  async #acceptedInTime(pending: Promise<void>): Promise<void> {
    try {
      await this.#inTime(pending);
    } catch (error) {
      this.#fail(storeFailure(error));
    }
  }

  /** Offers the state to the store as a snapshot, unless it contains events that the store has not accepted. */
  #offerSnapshot(): void {
    const { store, sessionId } = this.#config;
    const epoch = this.#epoch;
    try {
      if (store.keepSnapshot === undefined || epoch === undefined || this.failure !== undefined) return;
      store.keepSnapshot(sessionId, frozen(copyState(this.#owner.state)), { epoch });
    } catch {
      // A snapshot only saves time.
    }
  }

  /** Rejects if the store does not respond in time, so that it cannot block a run forever. */
  #inTime<Value>(pending: Promise<Value>): Promise<Value> {
    const { runtime, storeTimeoutMs } = this.#config;
    return new Promise((resolve, reject) => {
      const late = () => reject(new Error(`it did not respond within ${storeTimeoutMs} ms`));
      const cancel = runtime.timer(storeTimeoutMs, late);
      // A store can return anything.
      Promise.resolve(pending).then(resolve, reject).finally(cancel);
    });
  }

  #fail(error: AgentError): void {
    if (this.failure !== undefined) return;
    this.failure = error;
    this.#owner.onFailure(error);
  }
}

/** Returns whether a later attempt may not meet the failure. After `fenced`, another process has the session. */
export function isTemporary({ code }: AgentError): boolean {
  return code === 'store' || code === 'in_use';
}

/** Returns the error of a failed claim. If the session is unavailable, the store itself has not failed. */
function claimFailure(error: unknown): AgentError {
  const isRefusal =
    AgentError.is(error) && ['in_use', 'session_id', 'session_removed'].includes(error.code ?? '');
  return isRefusal ? error : storeFailure(error);
}

/** Returns an event without its position. A successful end that is not stored is a failure; a stopped run stays stopped. */
function asUnstored({ seq: _, id: __, ...event }: Event, failure: AgentError): UnstoredEvent {
  if (event.type !== 'finished' || endsAnyway.includes(event.status)) return event;
  const { limit: ___, ...rest } = event;
  return { ...rest, status: 'failed', error: failure.toJSON() };
}

const nothing: readonly Event[] = [];

const endsAnyway: readonly RunStatus[] = ['cancelled', 'timeout', 'failed'];

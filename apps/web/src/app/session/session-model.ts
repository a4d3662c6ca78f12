import type { Event, LiveEvent, UserPart } from '@cobbler/agent';
import type { CallItem, ConversationItems, LiveResponse, UnstoredEnd } from '@cobbler/agent/events';
import { emptyItems, foldItems, joinedResponse, noLiveResponse, pendingCalls } from '@cobbler/agent/events';
import { backoff, defined } from '@cobbler/agent/values';
import { Observable } from '../parts/observable.ts';
import type { ApiError, MessageContent, NextModel, SessionEntry } from './api.ts';
import { api, ApiError as Refusal } from './api.ts';
import { EventConnection } from './event-line.ts';
import { withPlanNote } from './plan-mode.ts';
import type { Todo } from './todos.ts';
import { todosNote } from './todos.ts';

/** The connection state of the page. */
export type ConnectionState =
  | { readonly state: 'loading' | 'live' }
  | { readonly state: 'lost'; readonly since: number; readonly reason: string }
  | { readonly state: 'signed_out' }
  | { readonly state: 'refused'; readonly reason: string };

/** A sent message that is not in the log yet. */
export interface OutgoingMessage {
  readonly key: string;
  readonly content: readonly UserPart[];
  readonly steer: boolean;
}

/** Time that the page shows that it has caught up, in milliseconds. */
const caughtUpMs = 5_000;

/** One session in the page: its log, its view and its connection. */
export class SessionModel extends Observable {
  readonly id: string;
  /** The complete log, for the events panel. */
  readonly events: Event[] = [];
  view: ConversationItems = emptyItems();
  connection: ConnectionState = { state: 'loading' };
  /** Number of events received after a reconnect, while the notice is shown. */
  caughtUp: number | undefined;
  outgoing: OutgoingMessage | undefined;
  /** The model of the next run, once it is known and if users can choose it. */
  next: NextModel | undefined;
  /** True in plan mode. */
  plans: boolean = false;
  /** The to-do list that the user has changed and not sent yet. */
  todos: readonly Todo[] | undefined;
  /** Increases with every change, so that components can detect whether they are outdated. */
  version: number = 0;
  /** Decisions that were made on this page, by approval. */
  readonly given: Map<string, 'allow' | 'deny'> = new Map();
  readonly #line: EventConnection;
  readonly #onStored: (event: Event) => void;
  #expected = 0;
  #isUnderWay = false;
  #lostAt: number | undefined;
  #caughtUpTimer: ReturnType<typeof setTimeout> | undefined;

  /** @param onStored receives every new event of the log, in order. */
  constructor(id: string, onStored: (event: Event) => void = () => {}) {
    super();
    this.id = id;
    this.#onStored = onStored;
    this.#line = new EventConnection({
      sessionId: id,
      position: () => this.view.state.seq,
      onFrame: (frame) => this.#handleFrame(frame),
      onChunkEnd: () => this.#touched(),
      onLost: (reason) => this.#handleLoss(reason),
    });
  }

  /** The current activity of the run that is not in the log. */
  get live(): LiveResponse {
    return this.view.live;
  }

  get isRunning(): boolean {
    return this.#isUnderWay && this.view.runStartedAt !== undefined;
  }

  /** True if a run has started in the log but is not running: its server crashed and did not continue it. */
  get isInterrupted(): boolean {
    return !this.#isUnderWay && this.view.runStartedAt !== undefined && this.isLoaded;
  }

  /** The calls that wait for a user. */
  get pending(): CallItem[] {
    return pendingCalls(this.view);
  }

  /** True if all events that existed when the connection opened have arrived. */
  get isLoaded(): boolean {
    return this.connection.state !== 'loading';
  }

  /** Reconnects, because the page is visible or the network is back. */
  wake(): void {
    if (this.connection.state === 'signed_out') {
      this.connection = { state: 'lost', since: Date.now(), reason: 'Signing in.' };
    }
    this.#line.wake();
  }

  /** Pauses the connection, because the page is hidden. */
  rest(): void {
    if (this.connection.state === 'live') this.#lostAt = this.events.length;
    this.#line.rest();
  }

  /** Closes the connection, because the view is closed. */
  end(): void {
    clearTimeout(this.#caughtUpTimer);
    this.#line.end();
  }

  /**
   * Sends a message once, however often it must be retried. During a run, the message steers it.
   * @throws ApiError if the server rejects it.
   */
  async say(content: readonly UserPart[]): Promise<void> {
    const steer = this.isRunning && this.pending.length === 0;
    const { todos } = this;
    const noted = withPlanNote(content, this.view.items, this.plans);
    const whole = todos === undefined ? noted : [todosNote(todos), ...noted];
    const outgoing: OutgoingMessage = { key: crypto.randomUUID(), content: whole, steer };
    this.todos = undefined;
    this.outgoing = outgoing;
    this.#touched();
    try {
      await this.#send(bare(whole), outgoing);
    } catch (error) {
      this.outgoing = undefined;
      this.todos ??= todos;
      this.#touched();
      throw error;
    }
    if (outgoing.steer) this.outgoing = undefined;
    this.#touched();
  }

  /** Changes the to-do list; the model receives it with the next message. */
  changeTodos(todos: readonly Todo[]): void {
    this.todos = todos;
    this.#touched();
  }

  /** Sets the model and the mode of the next run. */
  showNext({ next, plan = false }: Pick<SessionEntry, 'next' | 'plan'>): void {
    this.next = next;
    this.plans = plan;
    this.#touched();
  }

  /** @throws ApiError */
  async answer(call: CallItem, decision: 'allow' | 'deny', message?: string, always?: string): Promise<void> {
    const { approval } = call;
    if (approval === undefined) return;
    const { approvalId, hash } = approval;
    this.given.set(approvalId, decision);
    try {
      await api.answer(this.id, approvalId, {
        decision,
        hash,
        ...(message !== undefined && message !== '' && { message }),
        ...defined({ always }),
      });
    } catch (error) {
      this.given.delete(approvalId);
      throw error;
    }
  }

  async #send(content: MessageContent, outgoing: OutgoingMessage): Promise<void> {
    for (let retry = 0; ; retry += 1) {
      try {
        if (outgoing.steer) await api.steer(this.id, content);
        else await api.prompt(this.id, content, outgoing.key);
        return;
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        // The run has just ended or started, so send the message the other way.
        if (outgoing.steer && error.code === 'not_running') {
          return await this.#send(content, { ...outgoing, steer: false });
        }
        // A prompt can be repeated under its key, but a steering message would be sent twice.
        if (!error.passes || outgoing.steer) throw error;
        await new Promise((resolve) => setTimeout(resolve, backoff({ baseMs: 250, maxMs: 4_000 }, retry)));
      }
    }
  }

  #handleFrame(frame: Record<string, unknown>): boolean {
    const { type } = frame;
    if (type === 'hello') return this.#handleHello(frame);
    if (type === 'reset') return this.#reset();
    if (type === 'so_far') return this.#replaceLive(frame['events']);
    if (typeof type !== 'string') return true;
    if (!('seq' in frame)) return this.#handleUnstored(frame as unknown as LiveEvent | UnstoredEnd);
    const event = frame as unknown as Event;
    const { seq } = this.view.state;
    if (event.seq <= seq) return true;
    if (event.seq !== seq + 1) return false;
    this.#store(event);
    return true;
  }

  #handleUnstored(event: LiveEvent | UnstoredEnd): true {
    if (event.type === 'finished') {
      // A rejected start is reported to its caller.
      if (event.runId !== this.view.state.runId) return true;
      this.#isUnderWay = false;
    }
    foldItems(this.view, event);
    return true;
  }

  /** Replaces the displayed partial response. */
  #replaceLive(events: unknown): true {
    if (!Array.isArray(events)) return true;
    this.view.live = noLiveResponse;
    for (const event of events) foldItems(this.view, event);
    return true;
  }

  #store(event: Event): void {
    this.events.push(event);
    foldItems(this.view, event);
    if (event.type === 'user' && event.runId === this.outgoing?.key) this.outgoing = undefined;
    const isLive = this.connection.state === 'live';
    if (!isLive) return this.#updateArrival();
    this.#isUnderWay = true;
    this.#onStored(event);
  }

  #handleHello(frame: Record<string, unknown>): true {
    this.#expected = Number(frame['events'] ?? 0);
    this.#isUnderWay = typeof frame['runId'] === 'string';
    this.view.live = joinedResponse(this.#isUnderWay);
    if (this.#lostAt === undefined && this.connection.state !== 'loading') this.#lostAt = this.events.length;
    this.#updateArrival();
    return true;
  }

  /** Marks the page as up to date once it has received all events that existed when the connection opened. */
  #updateArrival(): void {
    if (this.view.state.seq < this.#expected) return;
    this.connection = { state: 'live' };
    if (this.#lostAt === undefined) return;
    this.caughtUp = Math.max(0, this.events.length - this.#lostAt);
    this.#lostAt = undefined;
    clearTimeout(this.#caughtUpTimer);
    this.#caughtUpTimer = setTimeout(() => {
      this.caughtUp = undefined;
      this.#touched();
    }, caughtUpMs);
  }

  /** Reloads the log from its start, because the server has a different one. */
  #reset(): true {
    this.events.length = 0;
    this.view = emptyItems();
    this.#lostAt = undefined;
    this.connection = { state: 'loading' };
    this.#updateArrival();
    return true;
  }

  #handleLoss(reason: ApiError): void {
    this.#lostAt ??= this.connection.state === 'loading' ? undefined : this.events.length;
    this.caughtUp = undefined;
    if (reason.status === 401) this.connection = { state: 'signed_out' };
    else if (!reason.passes && reason.code !== 'cut')
      this.connection = { state: 'refused', reason: reason.message };
    else if (this.connection.state !== 'lost') {
      this.connection = { state: 'lost', since: Date.now(), reason: reason.message };
    }
    this.#touched();
  }

  #touched(): void {
    this.version += 1;
    this.notify();
  }
}

/** Returns text without attachments as a string. */
function bare(content: readonly UserPart[]): MessageContent {
  const [only] = content;
  return content.length === 1 && only?.type === 'text' ? only.text : content;
}

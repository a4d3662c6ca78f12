import type { Event } from '@cobbler/agent';
import type { AssistantEvent, EventHead } from '@cobbler/agent/events';
import { timeOf } from '@cobbler/agent/values';
import type { World } from './scenario/world.ts';

/** A response with calls, and their results so far in the log. */
interface CallTurn {
  readonly calls: readonly (readonly [toolName: string, args: string])[];
  readonly results: Map<number, string>;
  /** Sequence number of the latest event that belongs to the turn, and its time by the wall clock. */
  until: number;
  endedAt: number;
  /** The time that the model had taken by then. */
  modelMs: number;
}

/** Time between two equal turns, without that of the model, after which they count as waiting and not as repeated. */
const waitMs = 10_000;

/**
 * Counts consecutive equal turns from the log alone, and checks the reaction of the run. After too many
 * repeats only a closing request follows, and no run that made progress ends for lack of it.
 *
 * @param most maximum number of equal turns; 0 for no limit.
 * @param from index of the first event to check. Events before it may have been lost.
 */
export function checkCircles(
  events: readonly Event[],
  { maxRepeats, from }: { readonly maxRepeats: number; readonly from: number },
  always: World['expect'],
): void {
  const count = new Count();
  let closing = false;
  for (const [index, event] of events.entries()) {
    const expect: World['expect'] = (condition, rule, message) =>
      always(condition || index < from, rule, message);
    const limit = event.type === 'finished' || event.type === 'stop_requested' ? event.limit : undefined;
    if (event.type === 'assistant' || limit !== undefined) count.endTurn();
    const { times } = count;
    const isAllowed = maxRepeats === 0 || times < maxRepeats || count.mayRepeat;
    if (!closing && event.type === 'assistant')
      expect(isAllowed, 'circles', `the same turn was taken ${times} times, and another request followed`);
    if (!closing && limit === 'no_progress')
      expect(!isAllowed, 'progress', `the run ended for lack of progress after ${times} equal turns`);
    if (event.type === 'stop_requested' && event.reason === 'limit') closing = true;
    if (event.type === 'user' && event.steer !== true) closing = false;
    count.see(event);
  }
}

/** Counts consecutive equal turns. */
class Count {
  #turn: CallTurn | undefined;
  #latest = '';
  #times = 0;
  #modelMs = 0;
  /** The end of the latest turn, and the time that the model had taken by then. */
  #latestEnd = { endedAt: 0, modelMs: 0 };
  /** Sequence numbers of user messages that the model has not received yet. */
  #unread: readonly number[] = [];
  /** True if the model has finished and only a new user message would continue the run. */
  #isAnswered = false;

  get times(): number {
    return this.#times;
  }

  /** True if the latest turn calls a tool that may be called repeatedly. */
  get mayRepeat(): boolean {
    return this.#latest.includes('"poll"');
  }

  see(event: Event): void {
    this.#modelMs += modelMsOf(event);
    if (event.type === 'user' && event.steer === true) this.#addMessage(event.seq);
    else if (event.type === 'assistant') this.#begin(event);
    else if (event.type === 'tool_result' && this.#turn !== undefined) {
      this.#turn.results.set(event.index, JSON.stringify([event.isError, event.content]));
      this.#turn.until = event.seq;
      this.#turn.endedAt = timeOf(event.time);
      this.#turn.modelMs = this.#modelMs;
      if (event.final === true) this.#isAnswered = true;
    } else if (event.type === 'user' || event.type === 'history' || event.type === 'finished') {
      const unread = this.#unread;
      const isAnswered = this.#isAnswered;
      this.#forget();
      // A resumed run continues after the last response.
      if (event.type === 'finished') this.#isAnswered = isAnswered;
      // A run that waits for an approval later continues its turn, with the messages sent during it.
      if (event.type === 'finished' && event.status === 'waiting') this.#unread = unread;
      else this.#turn = undefined;
    }
  }

  /** Ends the latest turn: its results are known when the next action starts. */
  endTurn(): void {
    const turn = this.#turn;
    if (turn === undefined) return;
    this.#turn = undefined;
    const results = turn.calls.map((_, index) => turn.results.get(index));
    const key = JSON.stringify([turn.calls, results]);
    const { endedAt, modelMs } = turn;
    const latest = this.#latestEnd;
    const isAgain = key === this.#latest;
    const hasWaited = isAgain && endedAt - latest.endedAt - (modelMs - latest.modelMs) >= waitMs;
    if (!isAgain) this.#times = 1;
    else if (!hasWaited) this.#times += 1;
    this.#latest = key;
    this.#latestEnd = { endedAt, modelMs };
    // A message reaches the model after the turn in which it was sent. A later one follows the next turn.
    const later = this.#unread.filter((seq) => seq > turn.until);
    if (later.length === this.#unread.length) return;
    this.#forget();
    this.#unread = later;
  }

  #addMessage(seq: number): void {
    if (!this.#isAnswered) this.#unread = [...this.#unread, seq];
    else {
      this.#turn = undefined;
      this.#forget();
    }
  }

  #begin({ content, seq, stopReason, time }: AssistantEvent & EventHead): void {
    const unread = this.#unread;
    const calls = content.filter((part) => part.type === 'tool_call');
    if (calls.length > 0) {
      const made = calls.map((part) => [part.toolName, JSON.stringify(part.arguments)] as const);
      this.#turn = {
        calls: made,
        results: new Map(),
        until: seq,
        endedAt: timeOf(time),
        modelMs: this.#modelMs,
      };
    } else {
      this.#forget();
      // A paused response is not complete, so messages wait for the rest of it.
      if (stopReason === 'pause') this.#unread = unread;
    }

    this.#isAnswered = unread.length === 0 && stopReason !== 'pause' && stopReason !== 'tool_use';
  }

  #forget(): void {
    this.#latest = '';
    this.#times = 0;
    this.#unread = [];
    this.#isAnswered = false;
  }
}

function modelMsOf(event: Event): number {
  if (event.type === 'assistant' || event.type === 'ask_failed') return event.durationMs;
  return event.type === 'compacted' ? (event.spent?.durationMs ?? 0) : 0;
}

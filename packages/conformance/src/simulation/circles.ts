import type { Event } from '@cobbler/agent';
import type { AssistantEvent, EventHead } from '@cobbler/agent/events';
import type { World } from './scenario/world.ts';

/** A response with calls, and their results so far in the log. */
interface CallTurn {
  readonly calls: readonly (readonly [toolName: string, args: string])[];
  readonly results: Map<number, string>;
  /** Sequence number of the latest event that belongs to the turn. */
  until: number;
}

/**
 * Counts consecutive equal turns from the log alone, and checks the reaction of the run. After too many
 * repeats only a closing request follows, and no run that made progress ends for lack of it.
 *
 * @param most maximum number of equal turns; 0 for no limit.
 */
export function checkCircles(events: readonly Event[], most: number, expect: World['expect']): void {
  const count = new Count();
  let closing = false;
  for (const event of events) {
    const limit = event.type === 'finished' || event.type === 'stop_requested' ? event.limit : undefined;
    if (event.type === 'assistant' || limit !== undefined) count.endTurn();
    const { times } = count;
    const isAllowed = most === 0 || times < most || count.mayRepeat;
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
  /** Sequence number of a user message that the model has not received yet. */
  #saidAt: number | undefined;
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
    if (event.type === 'user' && event.steer === true) this.#hear(event.seq);
    else if (event.type === 'assistant') this.#begin(event);
    else if (event.type === 'tool_result' && this.#turn !== undefined) {
      this.#turn.results.set(event.index, JSON.stringify([event.isError, event.content]));
      this.#turn.until = event.seq;
      if (event.final === true) this.#isAnswered = true;
    } else if (event.type === 'user' || event.type === 'history' || event.type === 'finished') {
      const said = this.#saidAt;
      this.#forget();
      // A run that waits for an approval later continues its turn, with the messages sent during it.
      if (event.type === 'finished' && event.status === 'waiting') this.#saidAt = said;
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
    this.#times = key === this.#latest ? this.#times + 1 : 1;
    this.#latest = key;
    // A message reaches the model after the turn in which it was sent. A later one follows the next turn.
    if (this.#saidAt !== undefined && this.#saidAt < turn.until) this.#forget();
  }

  #hear(seq: number): void {
    if (!this.#isAnswered) this.#saidAt ??= seq;
    else {
      this.#turn = undefined;
      this.#forget();
    }
  }

  #begin({ content, seq, stopReason }: AssistantEvent & EventHead): void {
    const said = this.#saidAt;
    const calls = content.filter((part) => part.type === 'tool_call');
    if (calls.length > 0) {
      const made = calls.map((part) => [part.toolName, JSON.stringify(part.arguments)] as const);
      this.#turn = { calls: made, results: new Map(), until: seq };
    } else {
      this.#forget();
      // A paused response is not complete, so messages wait for the rest of it.
      if (stopReason === 'pause') this.#saidAt = said;
    }
    this.#isAnswered = said === undefined && stopReason !== 'pause' && stopReason !== 'tool_use';
  }

  #forget(): void {
    this.#latest = '';
    this.#times = 0;
    this.#saidAt = undefined;
    this.#isAnswered = false;
  }
}

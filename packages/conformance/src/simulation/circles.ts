import type { Event } from '@cobbler/agent';
import type { AssistantEvent, EventHead } from '@cobbler/agent/events';
import type { World } from './scenario/world.ts';

/** One answer with calls, and what came of them as far as it is in the log. */
interface CallTurn {
  readonly calls: readonly (readonly [toolName: string, args: string])[];
  readonly results: Map<number, string>;
  /** The latest event that belongs to it. */
  until: number;
}

/**
 * Counts once more, from nothing but the log, how often in a row the same turn was taken, and compares what
 * the run did about it: no request follows when it was taken too often, but for a closing one; and no run ends
 * for want of progress that has made some.
 *
 * @param most how often it may be taken; 0 for any number of times.
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
      expect(isAllowed, 'circles', `the same turn was taken ${times} times, and the model is asked again`);
    if (!closing && limit === 'no_progress')
      expect(!isAllowed, 'progress', `the run ends for want of progress after ${times} times`);
    if (event.type === 'stop_requested' && event.reason === 'limit') closing = true;
    if (event.type === 'user' && event.steer !== true) closing = false;
    count.see(event);
  }
}

/** How often in a row the latest turn was taken. */
class Count {
  #turn: CallTurn | undefined;
  #latest = '';
  #times = 0;
  /** When somebody said something that the model has not got to know yet. */
  #saidAt: number | undefined;
  /** The model has nothing to do any more unless somebody says something, which it then hears at once. */
  #isAnswered = false;

  get times(): number {
    return this.#times;
  }

  /** The latest turn has a tool in it that is meant to be used again and again. */
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
      // A run that waits for a person goes on with its turn, and with what was said in it.
      if (event.type === 'finished' && event.status === 'waiting') this.#saidAt = said;
      else this.#turn = undefined;
    }
  }

  /** What came of a turn is known when the next thing is done. */
  endTurn(): void {
    const turn = this.#turn;
    if (turn === undefined) return;
    this.#turn = undefined;
    const results = turn.calls.map((_, index) => turn.results.get(index));
    const key = JSON.stringify([turn.calls, results]);
    this.#times = key === this.#latest ? this.#times + 1 : 1;
    this.#latest = key;
    // A word is heard behind the turn during which it was said; a later one behind the next.
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
      // An answer that pauses is not over: what was said waits for the rest of it.
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

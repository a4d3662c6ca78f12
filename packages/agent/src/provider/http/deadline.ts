import type { Runtime } from '../../values/runtime.ts';

/** Has a deadline that moves. */
export interface Timed {
  /** Returns the nearest deadline, on the monotonic clock. */
  dueAt(): number;
  /** Called once when the deadline has passed. */
  onDue(): void;
}

/**
 * Watches a moving deadline with one timer. Progress only updates a timestamp; when the timer fires, it checks the
 * timestamp and is set again for the remaining time, because setting a timer for every delta costs more than reading
 * the delta.
 */
export class DeadlineTimer {
  readonly #runtime: Runtime;
  readonly #timed: Timed;
  readonly #maxMs: number;
  #setFor = Number.POSITIVE_INFINITY;
  #cancel: (() => void) | undefined;

  /**
   * No timer is set for longer than `maxMs`: if that is the shortest of the later timeouts, the timer never has to be
   * reset for them.
   */
  constructor(runtime: Runtime, maxMs: number, timed: Timed) {
    this.#runtime = runtime;
    this.#maxMs = Math.min(maxMs, 2 ** 31 - 1);
    this.#timed = timed;
  }

  /** Sets the timer if needed. Must be called at the start and whenever the deadline may have moved closer. */
  look(now: number): void {
    const due = this.#timed.dueAt();
    if (due >= this.#setFor) return;
    this.#cancel?.();
    this.#set(due, now);
  }

  /** Cancels the timer. */
  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #set(due: number, now: number): void {
    const wait = Math.min(Math.max(due - now, 0), this.#maxMs);
    this.#setFor = now + wait;
    this.#cancel = this.#runtime.timer(wait, () => this.#fire());
  }

  #fire(): void {
    this.#cancel = undefined;
    this.#setFor = Number.POSITIVE_INFINITY;
    const now = this.#runtime.monotonic();
    const due = this.#timed.dueAt();
    if (now >= due) this.#timed.onDue();
    else this.#set(due, now);
  }
}

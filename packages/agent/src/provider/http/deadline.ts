import type { Runtime } from '../../values/runtime.ts';

/** A deadline on the monotonic clock, and the name of what it limits. */
export interface Due<Name extends string> {
  readonly at: number;
  readonly name: Name;
}

/**
 * Watches moving deadlines with one timer. Progress only updates a timestamp; when the timer fires, it checks the
 * timestamp and is set again for the remaining time, because setting a timer for every delta costs more than reading
 * the delta.
 */
export class DeadlineTimer<Name extends string> {
  readonly #runtime: Runtime;
  readonly #due: () => Due<Name>;
  readonly #late: (name: Name) => void;
  readonly #maxMs: number;
  #setFor = Number.POSITIVE_INFINITY;
  #cancel: (() => void) | undefined;

  /**
   * `due` returns the nearest deadline; `late` is called once when it has passed. No timer is set for longer than
   * `maxMs`: if that is the shortest of the later timeouts, the timer never has to be reset for them.
   */
  constructor(runtime: Runtime, maxMs: number, due: () => Due<Name>, late: (name: Name) => void) {
    this.#runtime = runtime;
    this.#maxMs = Math.min(maxMs, 2 ** 31 - 1);
    this.#due = due;
    this.#late = late;
  }

  /** Sets the timer if needed. Must be called at the start and whenever the nearest deadline may have moved closer. */
  look(): void {
    const due = this.#due();
    if (due.at < this.#setFor) this.#set(due.at);
  }

  /** Cancels the timer. */
  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #set(at: number): void {
    this.#cancel?.();
    const now = this.#runtime.monotonic();
    const wait = Math.min(Math.max(at - now, 0), this.#maxMs);
    this.#setFor = now + wait;
    this.#cancel = this.#runtime.timer(wait, () => this.#fire());
  }

  #fire(): void {
    this.#cancel = undefined;
    this.#setFor = Number.POSITIVE_INFINITY;
    const due = this.#due();
    if (this.#runtime.monotonic() >= due.at) this.#late(due.name);
    else this.#set(due.at);
  }
}

import type { Runtime } from '../../values/runtime.ts';

/** When something has to have happened, on the monotonic clock, and what is late if it has not. */
export interface Due<Name extends string> {
  readonly at: number;
  readonly name: Name;
}

/**
 * Guards moving deadlines with one timer. Progress only moves a timestamp; the timer looks at it when it
 * fires and is set again for what is then left, because setting a timer for every delta costs more than
 * reading the delta.
 */
export class DeadlineTimer<Name extends string> {
  readonly #runtime: Runtime;
  readonly #due: () => Due<Name>;
  readonly #late: (name: Name) => void;
  readonly #longest: number;
  #setFor = Number.POSITIVE_INFINITY;
  #cancel: (() => void) | undefined;

  /**
   * `due` gives the nearest deadline; `late` is called once when it has passed. No timer is set for longer than
   * `maxMs`: with the shortest of the patiences that will matter later, none has to be set anew for them.
   */
  constructor(runtime: Runtime, maxMs: number, due: () => Due<Name>, late: (name: Name) => void) {
    this.#runtime = runtime;
    this.#longest = Math.min(maxMs, 2 ** 31 - 1);
    this.#due = due;
    this.#late = late;
  }

  /** To be called at the start and when the nearest deadline may have come nearer. */
  look(): void {
    const due = this.#due();
    if (due.at < this.#setFor) this.#set(due.at);
  }

  /** Takes the timer back. */
  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #set(at: number): void {
    this.#cancel?.();
    const now = this.#runtime.monotonic();
    const wait = Math.min(Math.max(at - now, 0), this.#longest);
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

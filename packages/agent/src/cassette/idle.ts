/**
 * Tells when a run has come to rest: every promise that can settle without anything coming in has done so.
 * Only then may the next thing come in, which makes what follows from it the same each time.
 */
export class Stillness {
  readonly #turn: () => Promise<void>;
  #busy = 0;

  /** @param turn resolves in a macrotask: after all reactions of promises that have settled. */
  constructor(turn: () => Promise<void>) {
    this.#turn = turn;
  }

  /** There is no rest before the promise has settled. */
  during<Value>(work: Promise<Value>): Promise<Value> {
    this.#busy += 1;
    const over = () => {
      this.#busy -= 1;
    };
    work.then(over, over);
    return work;
  }

  /** Resolves at rest. */
  async reached(): Promise<void> {
    do await this.#turn();
    while (this.#busy > 0);
  }
}

/**
 * Detects when a run is idle: every promise that can settle without new input has settled. The next input is
 * delivered only then, so that the run reacts to its inputs in the same way every time.
 */
export class Stillness {
  readonly #turn: () => Promise<void>;
  #busy = 0;

  /** @param turn Resolves in a macrotask, after all reactions of settled promises. */
  constructor(turn: () => Promise<void>) {
    this.#turn = turn;
  }

  /** Counts the run as busy until the promise settles. */
  during<Value>(work: Promise<Value>): Promise<Value> {
    this.#busy += 1;
    const over = () => {
      this.#busy -= 1;
    };
    work.then(over, over);
    return work;
  }

  /** Resolves when the run is idle. */
  async untilReached(): Promise<void> {
    do await this.#turn();
    while (this.#busy > 0);
  }
}

import type { Runtime } from '../values/runtime.ts';

/** Calls `fire` once after it has run for `ms` milliseconds, not counting the time on hold. */
export class Stopwatch {
  readonly #runtime: Runtime;
  readonly #fire: () => void;
  #left: number;
  #since: number;
  #holds = 0;
  #cancel: () => void;

  constructor(runtime: Runtime, ms: number, fire: () => void) {
    this.#runtime = runtime;
    this.#fire = fire;
    this.#left = ms;
    this.#since = runtime.monotonic();
    this.#cancel = this.#arm();
  }

  /** Milliseconds left while it runs; can be infinite. */
  get left(): number {
    return this.#left - (this.#runtime.monotonic() - this.#since);
  }

  /** Pauses until the returned function is called and every other hold has ended. */
  hold(): () => void {
    if (this.#holds === 0) {
      this.#cancel();
      this.#left -= this.#runtime.monotonic() - this.#since;
    }
    this.#holds += 1;
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#holds -= 1;
      if (this.#holds > 0) return;
      this.#since = this.#runtime.monotonic();
      this.#cancel = this.#arm();
    };
  }

  /** Stops permanently. */
  stop(): void {
    this.#cancel();
    this.#holds = Number.POSITIVE_INFINITY;
  }

  #arm(): () => void {
    return Number.isFinite(this.#left) ? this.#runtime.timer(Math.max(0, this.#left), this.#fire) : () => {};
  }
}

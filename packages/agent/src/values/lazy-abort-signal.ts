/**
 * Signals one operation to stop. The AbortSignal is created on first access: creating one and listening to it costs
 * more than most of the operations it could stop, and every waiting operation would hold one.
 */
export class LazyAbortSignal {
  #reason: unknown;
  #isStopRequested = false;
  #controller: AbortController | undefined;
  #listener: ((reason: unknown) => void) | undefined;

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#isStopRequested) this.#controller.abort(this.#reason);
    return this.#controller.signal;
  }

  get isStopRequested(): boolean {
    return this.#isStopRequested;
  }

  /** The reason for the stop, once it is requested. */
  get reason(): unknown {
    return this.#reason;
  }

  /** Requests the stop: calls the listener, then those of the signal. Only the first reason counts. */
  ask(reason?: unknown): void {
    if (this.#isStopRequested) return;
    this.#isStopRequested = true;
    this.#reason = reason;
    this.#listener?.(reason);
    this.#controller?.abort(reason);
  }

  /** Sets the listener that is called when the stop is requested; it replaces the previous one. */
  listen(listener: ((reason: unknown) => void) | undefined): void {
    this.#listener = listener;
  }
}

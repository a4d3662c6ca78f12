/**
 * Tells one piece of work to stop. An AbortSignal is created at the first access: making one and listening to it
 * costs more than most of what it could stop, and each piece of work that waits would hold one.
 */
export class LazyAbortSignal {
  #reason: unknown;
  #isAsked = false;
  #controller: AbortController | undefined;
  #listener: ((reason: unknown) => void) | undefined;

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#isAsked) this.#controller.abort(this.#reason);
    return this.#controller.signal;
  }

  get isAsked(): boolean {
    return this.#isAsked;
  }

  /** Asks for the stop. Only the first reason counts. */
  ask(reason?: unknown): void {
    if (this.#isAsked) return;
    this.#isAsked = true;
    this.#reason = reason;
    this.#controller?.abort(reason);
    this.#listener?.(reason);
  }

  /** Calls the listener, in place of the one before it, when the stop is asked for. */
  listen(listener: ((reason: unknown) => void) | undefined): void {
    this.#listener = listener;
  }
}

/** A source of change notifications: at most one per frame, however often it changed. */
export class Observable {
  readonly #listeners = new Set<() => void>();
  #isDue = false;

  /** Calls the listener after changes. Returns a function that unsubscribes. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  protected notify(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    const tell = () => {
      if (!this.#isDue) return;
      this.notifyNow();
    };
    // A hidden page has no frames, but its title still shows the status.
    if (document.hidden) setTimeout(tell, 100);
    else {
      requestAnimationFrame(tell);
      setTimeout(tell, 250);
    }
  }
  /** Reports a change that the next key press depends on. */
  protected notifyNow(): void {
    this.#isDue = false;
    for (const listener of this.#listeners) listener();
  }
}

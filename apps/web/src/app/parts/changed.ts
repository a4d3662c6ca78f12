/** Something that changes and tells so: at most once per frame, however often it changed. */
export class Changed {
  readonly #listeners = new Set<() => void>();
  #isDue = false;

  /** Calls back after changes, until the function that it gives is called. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Something has changed. */
  protected changed(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    const tell = () => {
      if (!this.#isDue) return;
      this.#isDue = false;
      for (const listener of this.#listeners) listener();
    };
    // A page that is not shown has no frames, but its title still tells how things stand.
    if (document.hidden) setTimeout(tell, 100);
    else {
      requestAnimationFrame(tell);
      setTimeout(tell, 250);
    }
  }
}

/** Draws one thing per frame, what is nearest to the middle of the window first, so that scrolling never waits. */
export class DrawQueue {
  readonly #waiting = new Map<Element, () => void>();
  #isDue = false;

  /** Has something drawn soon. */
  add(place: Element, draw: () => void): void {
    this.#waiting.set(place, draw);
    this.#plan();
  }

  /** It need not be drawn anymore. */
  remove(place: Element): void {
    this.#waiting.delete(place);
  }

  #plan(): void {
    if (this.#isDue || this.#waiting.size === 0) return;
    this.#isDue = true;
    requestAnimationFrame(() => {
      this.#isDue = false;
      this.#drawNext();
      this.#plan();
    });
  }

  #drawNext(): void {
    let [nearest, distance]: [Element | undefined, number] = [undefined, Number.POSITIVE_INFINITY];
    for (const place of this.#waiting.keys()) {
      const away = distanceOf(place);
      if (away >= distance) continue;
      [nearest, distance] = [place, away];
    }
    if (nearest === undefined) return;
    const draw = this.#waiting.get(nearest);
    this.#waiting.delete(nearest);
    draw?.();
  }
}

/** The distance of an element from the middle of the window, in pixels; 0 if it covers the middle. */
function distanceOf(place: Element): number {
  const { top, bottom } = place.getBoundingClientRect();
  const middle = window.innerHeight / 2;
  return Math.max(top - middle, middle - bottom, 0);
}

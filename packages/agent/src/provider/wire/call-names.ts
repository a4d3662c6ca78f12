const maxLength = 64;

/** Assigns unique ids to calls. A repeated id is renamed by earlier ids alone, so that a growing history keeps its bytes. */
export class CallNames {
  readonly #used = new Set<string>();
  /** Next number to try for each id, so that a thousand equal ids do not take a million lookups. */
  #next: Map<string, number> | undefined;

  /** Returns the id, or the id with a number if it is taken. A valid id stays valid. */
  give(id: string): string {
    const name = this.#used.has(id) ? this.#numbered(id) : id;
    this.#used.add(name);
    return name;
  }

  #numbered(id: string): string {
    this.#next ??= new Map();
    for (let number = this.#next.get(id) ?? 2; ; number += 1) {
      const suffix = `_${number}`;
      const name = id.slice(0, maxLength - suffix.length) + suffix;
      if (this.#used.has(name)) continue;
      this.#next.set(id, number + 1);
      return name;
    }
  }
}

/** Converts an id to what every service accepts: 1 to 64 letters, digits, `_` and `-`. */
export function plainName(id: string, missing: string): string {
  if (id === '') return missing;
  return /^[A-Za-z0-9_-]{1,64}$/.test(id) ? id : id.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, maxLength);
}

const longest = 64;

/**
 * Gives each call an id of its own. An id that is new stays as it is; any other is renamed by a rule that
 * looks only at the ids before it, so that a growing history keeps its bytes.
 */
export class CallNames {
  readonly #used = new Set<string>();
  /** Where the search for a free number begins, so that a thousand equal ids do not cost a million look-ups. */
  readonly #next = new Map<string, number>();

  /** The id, or if it is taken the id with a number. A plain name stays one. */
  give(id: string): string {
    const name = this.#used.has(id) ? this.#numbered(id) : id;
    this.#used.add(name);
    return name;
  }

  #numbered(id: string): string {
    for (let number = this.#next.get(id) ?? 2; ; number += 1) {
      const suffix = `_${number}`;
      const name = id.slice(0, longest - suffix.length) + suffix;
      if (this.#used.has(name)) continue;
      this.#next.set(id, number + 1);
      return name;
    }
  }
}

/** The id in the characters and length that every service accepts: letters, digits, `_` and `-`, 1 to 64. */
export function plainName(id: string, missing: string): string {
  if (id === '') return missing;
  return /^[A-Za-z0-9_-]{1,64}$/.test(id) ? id : id.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, longest);
}

/**
 * All random choices of a simulation. The name of a choice is its site and how often the site was used
 * before. Its outcome depends only on the seed and that name, so removing one choice changes no other.
 *
 * The first option of a choice is the plain outcome, which applies without randomness.
 */
export class Choices {
  readonly #seed: number;
  readonly #dropped: ReadonlySet<string>;
  readonly #asked = new Map<string, number>();
  readonly #made: string[] = [];
  #calm = false;

  /**
   *
   * @param dropped names of choices with the plain outcome, whatever the seed says.
   */
  constructor(seed: number, dropped: ReadonlySet<string> = new Set()) {
    this.#seed = seed;
    this.#dropped = dropped;
  }

  /** Names of the choices with an outcome that is not plain, in order. */
  get made(): readonly string[] {
    return this.#made;
  }

  /** Makes every outcome plain from now on. */
  calm(): void {
    this.#calm = true;
  }

  /** Returns true with this probability. The plain outcome is false. */
  whether(site: string, probability: number): boolean {
    return this.#choose(site, (chance) => (chance < probability ? 1 : 0)) === 1;
  }

  /** Returns an integer from `min` to `max`, both included. The plain outcome is `min`. */
  between(site: string, min: number, max: number): number {
    return min + this.#choose(site, (chance) => Math.floor(chance * (max - min + 1)));
  }

  /** Returns one of the items, with a probability by weight. The plain outcome is the first item. */
  among<Item>(site: string, items: readonly (readonly [weight: number, item: Item])[]): Item {
    const index = this.#choose(site, (chance) => {
      let left = chance * items.reduce((sum, [weight]) => sum + weight, 0);
      return items.findIndex(([weight]) => {
        left -= weight;
        return left < 0;
      });
    });
    const found = items[index] ?? items[0];
    if (found === undefined) throw new RangeError('There are no items to choose from.');
    return found[1];
  }

  /** Returns one of the items, all equally likely. The plain outcome is the first item. */
  pick<Item>(site: string, items: readonly Item[]): Item {
    return this.among(
      site,
      items.map((item) => [1, item]),
    );
  }

  #choose(site: string, outcome: (chance: number) => number): number {
    if (this.#calm) return 0;
    const count = this.#asked.get(site) ?? 0;
    this.#asked.set(site, count + 1);
    const name = `${site}#${count}`;
    const chosen = outcome(chanceOf(this.#seed, name));
    if (chosen <= 0 || this.#dropped.has(name)) return 0;
    this.#made.push(name);
    return chosen;
  }
}

/**
 * Returns a number from 0 (included) to 1 (excluded): FNV-1a over the name, mixed as at the end of
 * MurmurHash3.
 */
function chanceOf(seed: number, name: string): number {
  let hash = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ 0x811c9dc5;
  for (let at = 0; at < name.length; at += 1) hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}

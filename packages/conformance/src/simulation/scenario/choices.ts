/**
 * All chance of a simulation. A choice is named by its site and by how often the site was asked before, and its
 * outcome follows from the seed and that name alone: leaving one choice out changes no other.
 *
 * The first of the things to choose from is the plain one: what happens when chance is left out.
 */
export class Choices {
  readonly #seed: number;
  readonly #dropped: ReadonlySet<string>;
  readonly #asked = new Map<string, number>();
  readonly #made: string[] = [];
  #calm = false;

  /** @param dropped names of choices that come out plain whatever the seed says. */
  constructor(seed: number, dropped: ReadonlySet<string> = new Set()) {
    this.#seed = seed;
    this.#dropped = dropped;
  }

  /** Names of the choices that did not come out plain, in order. */
  get made(): readonly string[] {
    return this.#made;
  }

  /** From here on everything comes out plain. */
  calm(): void {
    this.#calm = true;
  }

  /** True with this probability; plainly false. */
  whether(site: string, probability: number): boolean {
    return this.#choose(site, (chance) => (chance < probability ? 1 : 0)) === 1;
  }

  /** A whole number from `least` to `most`, both included; plainly `least`. */
  between(site: string, least: number, most: number): number {
    return least + this.#choose(site, (chance) => Math.floor(chance * (most - least + 1)));
  }

  /** One of the items, each as likely as its weight; plainly the first. */
  among<Item>(site: string, items: readonly (readonly [weight: number, item: Item])[]): Item {
    const index = this.#choose(site, (chance) => {
      let left = chance * items.reduce((sum, [weight]) => sum + weight, 0);
      return items.findIndex(([weight]) => {
        left -= weight;
        return left < 0;
      });
    });
    const found = items[index] ?? items[0];
    if (found === undefined) throw new RangeError('There is nothing to choose from.');
    return found[1];
  }

  /** One of the items, all equally likely; plainly the first. */
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

/** From 0 up to but not including 1: FNV-1a over the name, mixed as in MurmurHash3's end. */
function chanceOf(seed: number, name: string): number {
  let hash = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ 0x811c9dc5;
  for (let at = 0; at < name.length; at += 1) hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}

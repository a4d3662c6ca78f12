/** Chance that can be repeated: the same seed gives the same choices everywhere. */
export interface SeededRandom {
  /** From 0 up to but not including 1. */
  next(): number;
  /** A whole number from `least` to `most`, both included. */
  between(least: number, most: number): number;
  /** One of the items, which must not be empty. */
  pick<Item>(items: readonly Item[]): Item;
  /** True with this probability. */
  chance(probability: number): boolean;
}

/** Mulberry32: 32 bits of state, good enough to find bugs and short enough to be the same anywhere. */
export function seededRandom(seed: number): SeededRandom {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (least: number, most: number) => least + Math.floor(next() * (most - least + 1));
  return {
    next,
    between,
    pick(items) {
      const item = items[between(0, items.length - 1)];
      if (item === undefined) throw new RangeError('There is nothing to pick from.');
      return item;
    },
    chance: (probability) => next() < probability,
  };
}

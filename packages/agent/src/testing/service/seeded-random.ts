/** A repeatable random number generator: the same seed gives the same numbers everywhere. */
export interface SeededRandom {
  /** Returns a number from 0 up to but not including 1. */
  next(): number;
  /** Returns an integer from `min` to `max`, both included. */
  between(min: number, max: number): number;
  /** Returns one of the items. The list must not be empty. */
  pick<Item>(items: readonly Item[]): Item;
  /** Returns true with this probability. */
  chance(probability: number): boolean;
}

/** Creates a Mulberry32 generator: 32 bits of state, good enough to find bugs, and short. */
export function seededRandom(seed: number): SeededRandom {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (min: number, max: number) => min + Math.floor(next() * (max - min + 1));
  return {
    next,
    between,
    pick(items) {
      const item = items[between(0, items.length - 1)];
      if (item === undefined) throw new RangeError('The list of items is empty.');
      return item;
    },
    chance: (probability) => next() < probability,
  };
}

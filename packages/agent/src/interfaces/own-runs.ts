/**
 * How functions of ours perform requests without promises, as the `OwnRun` of an agent. A function that wraps one of them
 * is another.
 */
export const ownRuns: WeakMap<object, (...given: never) => void> = new WeakMap();

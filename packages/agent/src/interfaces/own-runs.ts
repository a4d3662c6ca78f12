/** How functions of ours perform requests without promises, as an `OwnRun`. A function that wraps one of them is another. */
export const ownRuns: WeakMap<object, (...given: never) => void> = new WeakMap();

const known = new WeakSet<object>();

/**
 * Freezes plain data of our own with everything in it. It keeps its identity when a caller passes it back, because
 * providers find cached bytes by it.
 */
export function owned<Value extends object>(value: Value): Value {
  known.add(value);
  return frozen(value);
}

/** Returns whether a value is data that {@link owned} was given. */
export function isOwned(value: object): boolean {
  return known.has(value);
}

/** Freezes plain data with everything in it. What is frozen already is frozen to its end. */
export function frozen<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const name in value) {
    const item = value[name];
    // Most fields are texts and numbers, and a call costs more than looking at one.
    if (typeof item === 'object' && item !== null && !Object.isFrozen(item)) frozen(item);
  }
  return value;
}

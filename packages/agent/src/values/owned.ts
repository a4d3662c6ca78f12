import { maxItems } from './json.ts';

const known = new WeakSet<object>();

/** Freezes plain data of our own. It keeps its identity when passed back, because providers find cached bytes by it. */
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
  // Names cost more to read than values, and those of an array most.
  const items: readonly unknown[] =
    Array.isArray(value) && value.length <= maxItems ? value : Object.values(value);
  for (let index = 0; index < items.length; index += 1) {
    const item = items[index];
    // Most fields are texts and numbers, and a call costs more than looking at one.
    if (typeof item === 'object' && item !== null && !Object.isFrozen(item)) frozen(item);
  }
  return value;
}

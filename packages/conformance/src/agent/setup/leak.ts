/**
 * Searches everything reachable from a value for secrets: strings, keys, non-enumerable fields, causes and
 * the result of `toJSON`.
 * @returns the path of the first match, or undefined.
 */
export function leaks(value: unknown, secrets: readonly string[]): string | undefined {
  return leakIn(value, secrets, '', new Set());
}

function leakIn(
  value: unknown,
  secrets: readonly string[],
  path: string,
  seen: Set<unknown>,
): string | undefined {
  if (typeof value === 'string') return holds(value, secrets) ? path : undefined;
  if (typeof value !== 'object' || value === null || seen.has(value)) return undefined;
  seen.add(value);
  for (const key of Reflect.ownKeys(value)) {
    const place = `${path}.${String(key)}`;
    if (holds(String(key), secrets)) return place;
    const found = leakIn(Reflect.get(value, key), secrets, place, seen);
    if (found !== undefined) return found;
  }
  if (!('toJSON' in value) || typeof value.toJSON !== 'function') return undefined;
  return leakIn(value.toJSON(), secrets, `${path}.toJSON()`, seen);
}

function holds(text: string, secrets: readonly string[]): boolean {
  return secrets.some((secret) => text.includes(secret));
}

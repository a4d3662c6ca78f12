import { clip, isEndless } from './json.ts';

/** Returns any value as a text. One that has none, or an endless one, is described. */
export function asText(value: unknown): string {
  try {
    if (!isEndless(value)) return String(value);
  } catch {
    // A proxy, or an object without a text.
  }
  return shown(value);
}

/** Formats a value for an error: strings are quoted and truncated, other values are described by their type. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(clip(value, 40));
  if (typeof value === 'function') return 'a function';
  if (typeof value !== 'object' || value === null) return String(value);
  try {
    return Array.isArray(value) ? 'an array' : 'an object';
  } catch {
    return 'a revoked proxy';
  }
}

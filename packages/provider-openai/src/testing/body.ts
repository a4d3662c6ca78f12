import type { JsonObject } from '@cobbler/agent';
import { isObject } from '../fields.ts';

/** Returns an object of a request body. These functions throw errors that name the position in the body. */
export function object(value: unknown, place: string): Record<string, unknown> {
  if (!isObject(value)) throw new TypeError(`${place} must be an object`);
  return value;
}

export function text(value: unknown, place: string): string {
  if (typeof value !== 'string') throw new TypeError(`${place} must be a string`);
  return value;
}

export function list(value: unknown, place: string): Record<string, unknown>[] {
  if (!Array.isArray(value)) throw new TypeError(`${place} must be an array`);
  return value.map((item, index) => object(item, `${place}[${index}]`));
}

/** Returns the objects of a list, which may be missing or invalid, for rules, which must never throw. */
export function objects(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** Parses a data URL. */
export function readDataURL(
  value: unknown,
  place: string,
): { readonly mediaType: string; readonly data: string } {
  const found = /^data:([\w.+-]+\/[\w.+-]+);base64,([A-Za-z0-9+/=]*)$/.exec(text(value, place));
  if (found === null) throw new TypeError(`${place} must be a base64 data URL`);
  return { mediaType: found[1] ?? '', data: found[2] ?? '' };
}

/** Parses the arguments of a call, which are JSON text in both APIs. */
export function readArguments(value: unknown, place: string): unknown {
  try {
    return JSON.parse(text(value, place));
  } catch {
    throw new TypeError(`${place} must be JSON`);
  }
}

export function numberOrNothing(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

/** Returns a schema as it was sent. */
export function schema(value: unknown, place: string): JsonObject {
  return object(value, place) as JsonObject;
}

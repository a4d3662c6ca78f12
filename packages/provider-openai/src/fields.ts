import type { ResponseSink } from '@cobbler/agent/provider';
import { isObject } from '@cobbler/agent/provider';

// Exported again so that the bundle imports it once.
export { isObject };

/** A JSON object of unknown content. */
export type Fields = Readonly<Record<string, unknown>>;

/** Returns the value as an object; an empty one for anything else. */
export function fieldsOf(value: unknown): Fields {
  return isObject(value) ? value : {};
}

/** Returns a string field; an empty string for anything else. */
export function textIn(fields: Fields, name: string): string {
  const value = fields[name];
  return typeof value === 'string' ? value : '';
}

/** Returns the objects in a list; none for anything else. */
export function objectsIn(fields: Fields, name: string): readonly Fields[] {
  const value = fields[name];
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** Returns whether a field has a value other than null. */
export function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** Returns a string field like {@link textIn}. Anything else there would be lost, so it makes the response invalid. */
export function textFrom(fields: Fields, name: string, out: ResponseSink): string {
  const value = fields[name];
  if (isGiven(value) && typeof value !== 'string') out.ignore(`${name} that is not a string`);
  return textIn(fields, name);
}

/** Returns whether a field has a value that {@link objectsIn} would not return as a whole. */
export function losesItems(value: unknown): boolean {
  return isGiven(value) && !(Array.isArray(value) && value.every(isObject));
}

import { defined } from '../values/defined.ts';
import { currentPart } from '../values/file-part.ts';
import type { Json } from '../values/json.ts';
import { clip, isObject } from '../values/json.ts';

/** A difference between a recorded request and the current one. A side without the value is absent. */
export interface RequestDifference {
  /** For example `messages[2].content[0].text`. */
  readonly path: string;
  readonly recorded?: Json;
  readonly now?: Json;
}

/** Maximum number of characters shown of a long string: before the first difference, and in total. */
const shownBefore = 20;
const shown = 72;

/** Returns the first difference between two values; undefined if they are equal. The order of keys does not matter. */
export function firstDifference(recorded: Json, now: Json, path = ''): RequestDifference | undefined {
  if (recorded === now) return undefined;
  if (Array.isArray(recorded) && Array.isArray(now)) {
    const maxLength = Math.max(recorded.length, now.length);
    for (let index = 0; index < maxLength; index += 1) {
      const found = sides(recorded[index], now[index], `${path}[${index}]`);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (isFields(recorded) && isFields(now)) {
    // A cassette of an earlier version has another form of this part.
    const before = now['type'] === 'file' ? (currentPart(recorded) as typeof now) : recorded;
    for (const name of new Set([...Object.keys(before), ...Object.keys(now)])) {
      const found = sides(own(before, name), own(now, name), path === '' ? name : `${path}.${name}`);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  return { path, recorded, now };
}

/** Formats a difference for people: its path, the recorded value and the current value. */
export function differenceLines({ path, recorded, now }: RequestDifference): string[] {
  const both = typeof recorded === 'string' && typeof now === 'string';
  const from = both ? Math.max(0, firstUnlike(recorded, now) - shownBefore) : 0;
  return [
    `at ${path || 'the top level'}:`,
    `  recorded  ${side(recorded, from)}`,
    `  now       ${side(now, from)}`,
  ];
}

/** Returns a value as one line of JSON with limited length. */
export function shortJson(value: Json, maxLength: number = shown): string {
  return clip(JSON.stringify(value), maxLength);
}

function sides(
  recorded: Json | undefined,
  now: Json | undefined,
  path: string,
): RequestDifference | undefined {
  if (recorded !== undefined && now !== undefined) return firstDifference(recorded, now, path);
  return { path, ...defined({ recorded, now }) };
}

function isFields(value: Json): value is { [name: string]: Json } {
  return isObject(value);
}

/** Ignores inherited properties, because an argument can be named `constructor`. */
function own(value: { readonly [name: string]: Json }, name: string): Json | undefined {
  return Object.hasOwn(value, name) ? value[name] : undefined;
}

function firstUnlike(one: string, other: string): number {
  let index = 0;
  while (index < one.length && one[index] === other[index]) index += 1;
  return index;
}

function side(value: Json | undefined, from: number): string {
  if (value === undefined) return 'nothing';
  if (typeof value !== 'string') return shortJson(value);
  const end = from + shown;
  return `${from > 0 ? '…' : ''}${JSON.stringify(value.slice(from, end))}${value.length > end ? '…' : ''}`;
}

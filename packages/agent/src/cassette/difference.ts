import { defined } from '../values/defined.ts';
import type { Json } from '../values/json.ts';
import { isObject } from '../values/json.ts';

/** A place where what was recorded and what is now are not the same; an absent side is not there. */
export interface RequestDifference {
  /** Such as `messages[2].content[0].text`. */
  readonly path: string;
  readonly recorded?: Json;
  readonly now?: Json;
}

/** How much of a long text is shown before the place where two differ, and in all. */
const shownBefore = 20;
const shown = 72;

/** The first place where two values differ. The order of an object's fields does not matter. */
export function firstDifference(recorded: Json, now: Json, path = ''): RequestDifference | undefined {
  if (recorded === now) return undefined;
  if (Array.isArray(recorded) && Array.isArray(now)) {
    const longest = Math.max(recorded.length, now.length);
    for (let index = 0; index < longest; index += 1) {
      const found = sides(recorded[index], now[index], `${path}[${index}]`);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (isFields(recorded) && isFields(now)) {
    for (const name of new Set([...Object.keys(recorded), ...Object.keys(now)])) {
      const found = sides(own(recorded, name), own(now, name), path === '' ? name : `${path}.${name}`);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  return { path, recorded, now };
}

/** A difference in lines that can be read: where it is, what was recorded, what is now. */
export function differenceLines({ path, recorded, now }: RequestDifference): string[] {
  const both = typeof recorded === 'string' && typeof now === 'string';
  const from = both ? Math.max(0, firstUnlike(recorded, now) - shownBefore) : 0;
  return [
    `at ${path || 'the top'}:`,
    `  recorded  ${side(recorded, from)}`,
    `  now       ${side(now, from)}`,
  ];
}

/** A value in one line of bounded length. */
export function clipped(value: Json, most: number = shown): string {
  const text = JSON.stringify(value);
  return text.length > most ? `${text.slice(0, most)}…` : text;
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

/** Inherited fields do not count: an argument may be called `constructor`. */
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
  if (typeof value !== 'string') return clipped(value);
  const end = from + shown;
  return `${from > 0 ? '…' : ''}${JSON.stringify(value.slice(from, end))}${value.length > end ? '…' : ''}`;
}

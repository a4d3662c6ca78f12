import type { Json, JsonObject } from '../values/json.ts';
import { isObject } from '../values/json.ts';

/** An operation that the run requested, with the name by which later lines refer to it. */
export interface RecordedRequest {
  readonly name: string;
  readonly content: JsonObject;
}

/**
 * Converts a request of the run to its cassette line. A conversation grows a little with each request, so only the
 * new part is written: `since` names an earlier line, `same` lists the fields that are equal in
 * that line, and `first` contains, for each list, the number of leading items that both lines have in common.
 */
export function outLine({ name, content }: RecordedRequest, earlier?: RecordedRequest): JsonObject {
  if (earlier === undefined) return { out: name, what: content };
  const same: string[] = [];
  const first: Record<string, number> = {};
  const what: JsonObject = {};
  for (const [field, value] of Object.entries(content)) {
    const before = earlier.content[field];
    if (before !== undefined && isSame(before, value)) {
      same.push(field);
      continue;
    }
    const count = commonItems(before, value);
    if (count > 0) first[field] = count;
    what[field] = count > 0 ? itemsOf(value).slice(count) : value;
  }
  if (same.length === 0 && Object.keys(first).length === 0) return { out: name, what: content };
  return { out: name, since: earlier.name, same, first, what };
}

/**
 * Returns the complete request of a line, including the parts that it shares with an earlier line.
 * @throws Error if the line is invalid, with a message for the reader of the file.
 */
export function askedOf(line: JsonObject, earlier: ReadonlyMap<string, JsonObject>): JsonObject {
  const what = fieldsOf(line, 'what');
  const since = line['since'];
  if (since === undefined) return what;
  const before = earlier.get(String(since));
  if (before === undefined)
    throw new Error(`it refers to ${String(since)}, but no earlier line has that name`);
  const whole: JsonObject = {};
  for (const name of itemsOf(line['same'])) whole[String(name)] = before[String(name)] ?? null;
  Object.assign(whole, what);
  for (const [name, count] of Object.entries(fieldsOf(line, 'first'))) {
    whole[name] = [...itemsOf(before[name]).slice(0, Number(count)), ...itemsOf(what[name])];
  }
  return whole;
}

/** Returns the number of leading items that two lists have in common. */
function commonItems(before: Json | undefined, now: Json): number {
  const [earlier, later] = [itemsOf(before), itemsOf(now)];
  const unlike = later.findIndex((item, index) => !isSame(earlier[index], item));
  return unlike === -1 ? later.length : unlike;
}

function isSame(one: Json | undefined, other: Json): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}

function itemsOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

function fieldsOf(line: JsonObject, name: string): JsonObject {
  const value = line[name];
  if (isObject(value)) return value as JsonObject;
  throw new Error(`its "${name}" is not an object`);
}

import { isObject } from '@cobbler/agent/provider';
import type { ReadPart, ReadRequest } from '@cobbler/agent/testing';

/** Tools that a model may call repeatedly without progress. Only the second is meant for that. */
export const repeatable: ReadonlySet<string> = new Set(['glance', 'poll']);

/** The tool that reads offloaded output. */
export const readingTool = 'read_blob';

type CallPart = Extract<ReadPart, { type: 'call' }>;

/** Returns the calls of the latest response if all of them are of tools that may be called again. */
export function latestLook({ turns }: ReadRequest): readonly CallPart[] {
  const latest = turns.findLast(({ side }) => side === 'assistant');
  const calls = latest?.parts.filter((part) => part.type === 'call') ?? [];
  return calls.every(({ name }) => repeatable.has(name)) ? calls : [];
}

/** A position in an offloaded output. */
export interface BlobLocation {
  readonly id: string;
  readonly offset: number;
}

/** Returns the positions that the request offers for reading. */
export function placesLeftOut({ turns }: ReadRequest): readonly BlobLocation[] {
  const results = turns.flatMap(({ parts }) => parts).filter((part) => part.type === 'result');
  return results.flatMap(({ text }) => cutsIn(text));
}

/** A text with an omission: the text before and after it, and the number of missing bytes. */
export interface Omission extends BlobLocation {
  readonly head: string;
  readonly tail: string;
  readonly between: number;
}

/** Returns the omissions in a text that say how to read what is missing. */
export function cutsIn(text: string): Omission[] {
  const match = /\n… (\d+) bytes omitted here; to read them, call read_blob with (\{.*?\}) …\n/.exec(text);
  if (match === null) return [];
  const [words, between, args = ''] = match;
  const { id, offset } = placeIn(args);
  const head = text.slice(0, match.index);
  const tail = text.slice(match.index + words.length);
  return [{ id, offset, head, tail, between: Number(between) }];
}

function placeIn(args: string): BlobLocation {
  try {
    const place: unknown = JSON.parse(args);
    if (isObject(place)) return { id: String(place['id']), offset: Number(place['offset']) };
  } catch {
    // Invalid JSON contains no position; the check of the caller reports that.
  }
  return { id: args, offset: Number.NaN };
}

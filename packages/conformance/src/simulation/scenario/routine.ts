import { isObject } from '@cobbler/agent/provider';
import type { ReadPart, ReadRequest } from '@cobbler/agent/testing';

/** Tools that a model may use again and again in vain: the second is meant for that. */
export const repeatable: ReadonlySet<string> = new Set(['glance', 'poll']);

/** The tool that reads what was put away. */
export const readingTool = 'read_blob';

type CallPart = Extract<ReadPart, { type: 'call' }>;

/** The calls of the latest answer, when all of them are of tools that may be used again. */
export function latestLook({ turns }: ReadRequest): readonly CallPart[] {
  const latest = turns.findLast(({ side }) => side === 'assistant');
  const calls = latest?.parts.filter((part) => part.type === 'call') ?? [];
  return calls.every(({ name }) => repeatable.has(name)) ? calls : [];
}

/** A place in something that was put away. */
export interface BlobLocation {
  readonly id: string;
  readonly offset: number;
}

/** Where the request says that something was left out and can be read. */
export function placesLeftOut({ turns }: ReadRequest): readonly BlobLocation[] {
  const results = turns.flatMap(({ parts }) => parts).filter((part) => part.type === 'result');
  return results.flatMap(({ text }) => cutsIn(text));
}

/** A text in which something was left out: what stands around the place, and how much is missing. */
export interface Cut extends BlobLocation {
  readonly head: string;
  readonly tail: string;
  readonly between: number;
}

/** The places of a text that say how to read what is missing there. */
export function cutsIn(text: string): Cut[] {
  const match = /\n… (\d+) bytes left out here; read_blob with (\{.*?\}) reads them …\n/.exec(text);
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
    // What is no JSON names no place, which whoever looks for it will find out.
  }
  return { id: args, offset: Number.NaN };
}

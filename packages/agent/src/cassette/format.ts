import { AgentError, summarize } from '../values/errors.ts';
import type { Json, JsonObject } from '../values/json.ts';
import { parsedObject } from '../values/json.ts';
import { isoTime } from '../values/runtime.ts';
import type { RecordedRequest } from './outgoing.ts';
import { askedOf } from './outgoing.ts';

/*
 * A cassette is a file of JSON lines. The first line identifies the format. The others follow in the order in which they
 * happened:
 *
 *   {"cassette":1,"recorded":"2026-11-21T16:00:00.000Z","startedAt":1795276800000}
 *   {"fact":"prompt","value":…}                       a fact that the run depends on
 *   {"id":"…"} {"random":0.25}                        generated ids and random numbers
 *   {"out":"request 1","what":{…}}                    a request of the run
 *   {"at":812.4,"in":"request 1","status":200,…}      an input, with its time in milliseconds since the start
 *
 * Within a version, lines and fields are only added. A reader skips lines that it does not know.
 */

const version = 1;

/** A recorded input: the start of a response, a chunk, the result of a tool or a timer that fired. */
export interface RecordedArrival {
  /** Milliseconds since the recording started. */
  readonly at: number;
  /** The port through which it arrived. */
  readonly name: string;
  readonly data: JsonObject;
}

/** The parsed content of a cassette. */
export interface Cassette {
  /** Wall-clock time when the recording started, in milliseconds since 1970. */
  readonly startedAt: number;
  readonly facts: ReadonlyMap<string, Json>;
  readonly ids: readonly string[];
  readonly randoms: readonly number[];
  readonly asked: readonly RecordedRequest[];
  readonly arrivals: readonly RecordedArrival[];
}

/** Returns the first line of a cassette. */
export function headLine(startedAt: number): JsonObject {
  return { cassette: version, recorded: isoTime(startedAt), startedAt };
}

/** Converts a recorded input to the JSON object of its cassette line. */
export function arrivalLine({ at, name, data }: RecordedArrival): JsonObject {
  return { at, in: name, ...data };
}

/**
 * Reads a cassette. An incomplete last line, for example after the process was killed, is ignored.
 * @throws AgentError `invalid`, code `cassette`, with the number of the invalid line.
 */
export function readCassette(text: string): Cassette {
  const reader = new CassetteReader();
  const lines = text.split('\n');
  for (const [index, line] of lines.entries()) {
    if (line.trim() === '') continue;
    const fields = parsedObject(line);
    if (fields === undefined && index === lines.length - 1) break;
    try {
      if (fields === undefined) throw new Error('it is not a JSON object');
      reader.add(fields);
    } catch (error) {
      throw unusable(`line ${index + 1}: ${summarize(error).message}`);
    }
  }
  return reader.cassette();
}

class CassetteReader {
  #startedAt: number | undefined;
  readonly #facts = new Map<string, Json>();
  readonly #ids: string[] = [];
  readonly #randoms: number[] = [];
  readonly #asked = new Map<string, JsonObject>();
  readonly #arrivals: RecordedArrival[] = [];

  add(line: JsonObject): void {
    const { fact, id, random, out, in: name } = line;
    if (this.#startedAt === undefined) this.#startedAt = startOf(line);
    else if (typeof fact === 'string') this.#facts.set(fact, line['value'] ?? null);
    else if (typeof id === 'string') this.#ids.push(id);
    else if (typeof random === 'number') this.#randoms.push(random);
    else if (typeof out === 'string') this.#asked.set(out, askedOf(line, this.#asked));
    else if (typeof name === 'string') this.#arrivals.push(arrivalOf(line, name));
  }

  cassette(): Cassette {
    if (this.#startedAt === undefined) throw unusable('the file is empty');
    return {
      startedAt: this.#startedAt,
      facts: this.#facts,
      ids: this.#ids,
      randoms: this.#randoms,
      asked: [...this.#asked].map(([name, content]) => ({ name, content })),
      arrivals: this.#arrivals,
    };
  }
}

function startOf({ cassette, startedAt }: JsonObject): number {
  if (typeof cassette !== 'number')
    throw new Error('a cassette must start with a line such as {"cassette":1,…}');
  if (cassette !== version)
    throw new Error(
      `its version is ${cassette}, but only version ${version} is supported; record the cassette again`,
    );
  if (typeof startedAt !== 'number') throw new Error('"startedAt" is missing');
  return startedAt;
}

function arrivalOf({ at, in: _, ...data }: JsonObject, name: string): RecordedArrival {
  if (typeof at !== 'number') throw new Error('"at" is missing');
  return { at, name, data };
}

function unusable(why: string): AgentError {
  const message = `The cassette cannot be used: ${why}.`;
  return new AgentError({ kind: 'invalid', code: 'cassette', message });
}

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Event, EventBody } from '../../../src/events/event.ts';
import { sqliteStore } from '../../../src/node/index.ts';
import type { SessionStore } from '../../../src/store/store.ts';
import type { SeededRandom } from '../../../src/testing/service/seeded-random.ts';
import { eventsOf, said, wholeRun, worked } from '../../../src/testing/stored-events.ts';
import { AgentError } from '../../../src/values/errors.ts';
import { newFile, testFolder } from './rig.ts';

/** A closed store and the content of each session as text. */
export interface Undamaged {
  readonly file: string;
  readonly texts: ReadonlyMap<string, string>;
  /** The whole file. */
  readonly bytes: Buffer;
  /** Number of pages. */
  readonly pages: number;
}

const pageSize = 4096;

/** Pages that every session needs: the header, the counters, the root of the events. */
const shared: ReadonlySet<number> = new Set([0, 1, 8]);

/** Writes interleaved sessions: short, long, interrupted, and with events longer than a page. */
export async function undamagedStore(): Promise<Undamaged> {
  const file = newFile();
  const store = sqliteStore(file);
  const sessions = new Map<string, EventBody[]>([
    ['short', wholeRun('Short.')],
    ['long', Array.from({ length: 5 }, (_, run) => wholeRun(`Run ${run}.`, 30, run * 31)).flat()],
    ['wide', wholeRun('wide '.repeat(4_000), 4)],
    ['cut', [said('Cut off.'), ...worked(1), ...worked(2).slice(0, 2)]],
    ...Array.from({ length: 12 }, (_, index): [string, EventBody[]] => [
      `s-${index}`,
      wholeRun(`Prompt ${index}.`, index),
    ]),
  ]);
  const texts = new Map<string, string>();
  const writers = await Promise.all(
    [...sessions].map(async ([id, bodies]) => {
      const events = eventsOf(id, bodies);
      texts.set(id, JSON.stringify(events));
      return { id, events, epoch: await store.claim(id) };
    }),
  );
  for (let at = 0; at < 700; at += 5)
    await Promise.all(
      writers
        .filter(({ events }) => at < events.length)
        .map(async ({ id, events, epoch }) => await store.append(id, events.slice(at, at + 5), { epoch })),
    );
  await store.rename('short', 'A given title');
  await store.close();
  const bytes = readFileSync(file);
  return { file, texts, bytes, pages: bytes.length / pageSize };
}

export function pageOf(offset: number): number {
  return Math.floor(offset / pageSize);
}

/** Returns whether damage to a page may make a session unreadable or change what is salvaged. */
export function mayTouch({ bytes, texts }: Undamaged, page: number, id: string): boolean {
  const text = bytes.toString('latin1', page * pageSize, (page + 1) * pageSize);
  const isOn = (session: string) => text.includes(`"id":"${session}-`);
  // The continuation of a long event names no session; only `wide` has long events.
  return isOn(id) || (id === 'wide' && ![...texts.keys()].some(isOn));
}

/** Returns whether damage to a page may make every session unreadable. */
export function isShared(page: number): boolean {
  return shared.has(page);
}

/** Result of reading one session from a damaged store. */
export type Outcome = 'same' | 'refused' | 'changed';

/** Reads every session of a store; if the store cannot be opened, all are `refused`. */
export async function outcomes(
  { texts }: Undamaged,
  file: string,
): Promise<{ found: Map<string, Outcome>; listed: readonly string[] | undefined }> {
  const found = new Map<string, Outcome>();
  let listed: readonly string[] | undefined;
  let store: SessionStore | undefined;
  try {
    store = sqliteStore(file);
  } catch (error) {
    checkTyped(error);
  }
  for (const [id, text] of texts)
    found.set(id, store === undefined ? 'refused' : await outcome(store, id, text));
  if (store !== undefined)
    listed = await store
      .list({ limit: 100 })
      .then(({ sessions }) => sessions.map(({ id }) => id), checkTyped);
  await store?.close();
  return { found, listed };
}

/** Creates a file with these bytes. */
export function fileOf(bytes: Buffer): string {
  const file = join(testFolder(), 'damaged.db');
  writeFileSync(file, bytes);
  return file;
}

async function outcome(store: SessionStore, id: string, text: string): Promise<Outcome> {
  try {
    const events: readonly Event[] = await store.read(id);
    return JSON.stringify(events) === text ? 'same' : 'changed';
  } catch (error) {
    checkTyped(error);
    return 'refused';
  }
}

function checkTyped(error: unknown): undefined {
  if (AgentError.is(error) && error.code?.startsWith('store_')) return undefined;
  throw error;
}

/** Returns the bytes with one bit flipped. */
export function flipped(bytes: Buffer, offset: number, bit: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[offset] = (copy[offset] ?? 0) ^ (1 << bit);
  return copy;
}

/** Returns the bytes with one page overwritten by zeros, ones, noise or another page. */
export function overwritten(bytes: Buffer, page: number, how: number, random: SeededRandom): Buffer {
  const copy = Buffer.from(bytes);
  const place = copy.subarray(page * pageSize, (page + 1) * pageSize);
  if (how === 0) place.fill(0);
  else if (how === 1) place.fill(0xff);
  else if (how === 2) for (const index of place.keys()) place[index] = random.between(0, 255);
  else bytes.copy(place, 0, random.between(0, bytes.length / pageSize - 1) * pageSize);
  return copy;
}

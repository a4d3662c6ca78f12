import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { scalar } from '../../../src/node/sqlite/engine.ts';
import type { SessionStore } from '../../../src/store/store.ts';
import { seededRandom } from '../../../src/testing/service/seeded-random.ts';
import { eventsOf, said } from '../../../src/testing/stored-events.ts';
import { newFile, open } from './rig.ts';

/** Writes sessions in turns and tracks how many events each must contain. */
class Shelf {
  readonly lengths = new Map<string, number>();
  readonly #epochs = new Map<string, number>();
  readonly #store: SessionStore;

  constructor(store: SessionStore) {
    this.#store = store;
  }

  async write(id: string, count: number): Promise<void> {
    const before = this.lengths.get(id) ?? 0;
    const epoch = this.#epochs.get(id) ?? (await this.#store.claim(id));
    this.#epochs.set(id, epoch);
    const texts = Array.from({ length: count }, (_, index) => said(`${id} ${before + index + 1}`));
    await this.#store.append(id, eventsOf(id, texts, before), { epoch });
    this.lengths.set(id, before + count);
  }

  async delete(id: string): Promise<void> {
    const { length } = await this.#store.read(id);
    if (length === 0) return;
    const epoch = this.#epochs.get(id) ?? 0;
    await this.#store.append(id, [], { epoch, release: true });
    expect(await this.#store.delete(id)).toBe(true);
    this.lengths.delete(id);
    this.#epochs.delete(id);
  }

  /** Reads every session, whole and in pages, and returns those that differ from what was written. */
  async wrong(page: number): Promise<string[]> {
    const wrong: string[] = [];
    for (const [id, length] of this.lengths) {
      const wanted = Array.from({ length }, (_, index) => `${id} ${index + 1}`);
      const paged: string[] = [];
      for (let after = 0; after < length; after += page) paged.push(...(await this.texts(id, after, page)));
      if (String(await this.texts(id)) !== String(wanted)) wrong.push(`${id} read whole`);
      if (String(paged) !== String(wanted)) wrong.push(`${id} read by ${page}`);
    }
    return wrong;
  }

  async texts(id: string, after?: number, limit?: number): Promise<string[]> {
    const events = await this.#store.read(id, after, limit);
    return events.map(
      (event) =>
        JSON.stringify('content' in event ? event.content : event).match(/"text":"(.*?)"/)?.[1] ?? '',
    );
  }
}

test.each([1, 2, 3])(
  'finds all events after any mix of writes, reads and deletes (seed %i) [P13]',
  async (seed) => {
    const store = open(newFile());
    const shelf = new Shelf(store);
    const random = seededRandom(seed);
    for (let step = 0; step < 120; step += 1) {
      const id = `session-${random.between(0, 3)}`;
      if (random.chance(0.1)) await shelf.delete(id);
      else await shelf.write(id, random.between(1, 20));
      if (step % 10 === 0) expect(await shelf.wrong(random.between(1, 90))).toEqual([]);
    }
    expect(await shelf.wrong(50)).toEqual([]);
  },
);

test('finds events that reuse the places of deleted ones, without a full scan [P13]', async () => {
  const file = newFile();
  const shelf = new Shelf(open(file));
  await shelf.write('one', 600);
  await shelf.delete('one');
  await shelf.write('two', 100);
  expect(await shelf.wrong(64)).toEqual([]);
  await shelf.write('two', 100);
  expect(await shelf.wrong(64)).toEqual([]);
  const db = new DatabaseSync(file);
  // With a larger number, the index queries would miss these events.
  expect(
    scalar(db, "SELECT value <= (SELECT max(place) FROM events) FROM counters WHERE name = 'noted'"),
  ).toBe(1);
  db.close();
});

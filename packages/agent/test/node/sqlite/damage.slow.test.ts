import { readFileSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import { salvageStore, sqliteStore, verifyStore } from '../../../src/node/index.ts';
import type { SessionStore } from '../../../src/store/store.ts';
import { seededRandom } from '../../../src/testing/service/seeded-random.ts';
import type { Undamaged } from './damage-rig.ts';
import {
  fileOf,
  flipped,
  isShared,
  mayTouch,
  outcomes,
  overwritten,
  pageOf,
  undamagedStore,
} from './damage-rig.ts';

/** Returns the content of each session as text. */
async function contents(store: SessionStore): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  for (const id of await store.sessions()) texts.set(id, JSON.stringify(await store.read(id)));
  return texts;
}

/** Reads, verifies and optionally salvages a damaged file; returns all incorrect results. */
async function faults(whole: Undamaged, bytes: Buffer, page: number, salvages: boolean): Promise<string[]> {
  const file = fileOf(bytes);
  const wrong: string[] = [];
  if (salvages) wrong.push(...(await salvageFaults(whole, file, page)));
  const { found, listed } = await outcomes(whole, file);
  for (const [id, outcome] of found) {
    if (outcome === 'changed') wrong.push(`${id} was changed`);
    if (outcome === 'refused' && !isShared(page) && !mayTouch(whole, page, id))
      wrong.push(`${id} was refused`);
  }
  const missing = [...whole.texts.keys()].filter((id) => listed !== undefined && !listed.includes(id));
  if (missing.length > 0 && !isShared(page)) wrong.push(`${missing} are not listed`);
  const isRefused = [...found.values()].includes('refused');
  if (isRefused && verifyStore(file).ok) wrong.push('verify found nothing');
  rmSync(dirname(file), { recursive: true });
  return wrong;
}

async function salvageFaults(whole: Undamaged, file: string, page: number): Promise<string[]> {
  const wrong: string[] = [];
  const report = new Map((await salvageStore(file, `${file}.new`)).map((session) => [session.id, session]));
  const salvaged = sqliteStore(`${file}.new`);
  const texts = await contents(salvaged);
  await salvaged.close();
  for (const [id, text] of whole.texts) {
    const isSame = texts.get(id) === text;
    if (!isSame && !mayTouch(whole, page, id)) wrong.push(`${id} was not salvaged`);
    if (!isSame && (report.get(id)?.problems.length ?? 0) === 0) wrong.push(`${id} changed, unreported`);
  }
  if (!verifyStore(`${file}.new`).ok) wrong.push('the new store is damaged');
  return wrong;
}

describe('a damaged file [P13]', { timeout: 240_000 }, () => {
  test.each([1, 2, 3])(
    'returns the stored events or a typed error after any bit flip (seed %i)',
    async (seed) => {
      const random = seededRandom(seed);
      const whole = await undamagedStore();
      for (let times = 0; times < 60; times += 1) {
        const offset = random.between(0, whole.bytes.length - 1);
        const bit = random.between(0, 7);
        const wrong = await faults(whole, flipped(whole.bytes, offset, bit), pageOf(offset), times % 5 === 0);
        expect([offset, bit, ...wrong]).toEqual([offset, bit]);
      }
    },
  );

  test('can be read and salvaged except for an overwritten page', async () => {
    const random = seededRandom(1);
    const whole = await undamagedStore();
    for (let page = 0; page < whole.pages; page += 1) {
      const how = random.between(0, 3);
      const salvages = isShared(page) || page % 4 === 0;
      const wrong = await faults(whole, overwritten(whole.bytes, page, how, random), page, salvages);
      expect([page, how, ...wrong]).toEqual([page, how]);
    }
  });

  test('passes verification and is salvaged unchanged if it is intact', async () => {
    const { file, texts, bytes } = await undamagedStore();
    const { ok, sessions, problems } = verifyStore(file);
    expect([ok, problems, sessions.length]).toEqual([true, [], texts.size]);
    const report = await salvageStore(file, `${file}.new`);
    expect(report.flatMap(({ problems }) => problems)).toEqual([]);
    const [old, made] = [sqliteStore(file), sqliteStore(`${file}.new`)];
    expect(await contents(made)).toEqual(texts);
    expect(await made.sessions()).toEqual(await old.sessions());
    expect(await made.list()).toEqual(await old.list());
    await old.close();
    await made.close();
    expect(readFileSync(file).length).toBe(bytes.length);
  });
});

import { AgentError } from '@cobbler/agent';
import type { BlobPart, Blobs } from '@cobbler/agent/context';
import type { ContractCase } from '@cobbler/agent/testing';
import { expect, expectEqual } from '@cobbler/agent/testing';

/** A blob store to test. */
export interface BlobsSubject {
  /** Name for reports. */
  readonly name: string;
  /** Returns a new, empty blob store with this capacity in bytes. Called once for each case. */
  make(maxBytes: number): Blobs | Promise<Blobs>;
}

const plenty = 1_000_000;
const all = { start: 0, end: plenty } as const;

/** Returns the cases that every blob store must pass, because `read_blob` and offloading rely on them. */
export function blobsContract(subject: BlobsSubject): ContractCase[] {
  const the = (name: string, maxBytes: number, check: (blobs: Blobs) => Promise<void>): ContractCase => ({
    group: 'blobs',
    name,
    run: async () => await check(await subject.make(maxBytes)),
  });
  return [
    the('a stored blob can be read whole and in parts', plenty, checkParts),
    the(
      'a part that exceeds the end is shortened, and the size is always that of the whole blob',
      plenty,
      checkEnds,
    ),
    the('an unknown id returns undefined', plenty, async (blobs) => {
      expectEqual(await blobs.get('nobody', all), undefined, 'an unknown id');
    }),
    the('an empty blob is stored too', plenty, async (blobs) => {
      await blobs.put('empty', new Uint8Array());
      expectEqual((await blobs.get('empty', all))?.size, 0, 'the size');
    }),
    the('an invalid id is rejected by put and returns undefined from get', plenty, checkIds),
    the('the oldest blobs are deleted if space runs out, never the newest', 10, checkRoom),
    the('a blob stored again counts as new and takes no more space', 10, checkAgain),
    the('parallel writes are all stored', plenty, checkMany),
  ];
}

async function checkParts(blobs: Blobs): Promise<void> {
  const bytes = Uint8Array.from({ length: 3_000 }, (_, index) => index % 251);
  await blobs.put('0123456789abcdef-_', bytes);
  const get = async (start: number, end: number) => await blobs.get('0123456789abcdef-_', { start, end });
  expectPart(await get(0, 3_000), bytes, 3_000);
  expectPart(await get(0, 1), bytes.subarray(0, 1), 3_000);
  expectPart(await get(1_234, 2_345), bytes.subarray(1_234, 2_345), 3_000);
}

async function checkEnds(blobs: Blobs): Promise<void> {
  await blobs.put('a', Uint8Array.of(1, 2, 3));
  expectPart(await blobs.get('a', { start: 2, end: 99 }), Uint8Array.of(3), 3);
  expectPart(await blobs.get('a', { start: 3, end: 99 }), new Uint8Array(), 3);
  expectPart(await blobs.get('a', { start: 50, end: 99 }), new Uint8Array(), 3);
}

const noIds = [
  '',
  '.',
  '..',
  '../a',
  'a/b',
  'a\\b',
  '/etc/passwd',
  'a\0',
  'A',
  'ä',
  'a b',
  'a.b',
  'x'.repeat(65),
];

async function checkIds(blobs: Blobs): Promise<void> {
  for (const id of noIds) {
    let thrown: unknown;
    try {
      await blobs.put(id, Uint8Array.of(1));
    } catch (error) {
      thrown = error;
    }
    expect(
      AgentError.is(thrown) && thrown.kind === 'invalid',
      `${JSON.stringify(id)} to be rejected as invalid`,
    );
    expectEqual(await blobs.get(id, all), undefined, `the blob under ${JSON.stringify(id)}`);
  }
}

async function checkRoom(blobs: Blobs): Promise<void> {
  for (const id of ['a', 'b', 'c']) await blobs.put(id, new Uint8Array(5));
  await expectKept(blobs, { a: undefined, b: 5, c: 5 });
  await blobs.put('large', new Uint8Array(50));
  await expectKept(blobs, { b: undefined, c: undefined, large: 50 });
}

async function checkAgain(blobs: Blobs): Promise<void> {
  await blobs.put('a', new Uint8Array(5));
  for (let count = 0; count < 9; count += 1) await blobs.put('b', new Uint8Array(5));
  await expectKept(blobs, { a: 5, b: 5 });
  await blobs.put('a', new Uint8Array(5));
  await blobs.put('c', new Uint8Array(5));
  await expectKept(blobs, { a: 5, b: undefined, c: 5 });
}

async function checkMany(blobs: Blobs): Promise<void> {
  const ids = Array.from({ length: 30 }, (_, index) => `id-${index % 20}`);
  await Promise.all(ids.map((id) => blobs.put(id, new TextEncoder().encode(id))));
  const found = await Promise.all(ids.map((id) => blobs.get(id, all)));
  for (const [index, part] of found.entries())
    expectEqual(new TextDecoder().decode(part?.bytes), ids[index], `the blob under ${ids[index]}`);
}

async function expectKept(blobs: Blobs, kept: Readonly<Record<string, number | undefined>>): Promise<void> {
  for (const [id, size] of Object.entries(kept))
    expectEqual((await blobs.get(id, all))?.size, size, `the size of ${id}`);
}

function expectPart(part: BlobPart | undefined, bytes: Uint8Array, size: number): void {
  expectEqual([...(part?.bytes ?? [-1])], [...bytes], 'the bytes');
  expectEqual(part?.size, size, 'the size of the whole blob');
}

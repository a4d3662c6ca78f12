import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Programs } from '../src/server/built.ts';
import { buildPrograms } from '../src/server/built.ts';
import { measureFanOut } from '../src/server/fan-out.ts';
import { measureIdle } from '../src/server/idle.ts';
import { measureLong } from '../src/server/long.ts';
import { measurePrompts } from '../src/server/prompts.ts';
import type { Part } from '../src/server/rows.ts';
import { isKept, partText } from '../src/server/rows.ts';
import type { Moment } from '../src/server/soak-verdict.ts';
import { verdictOf } from '../src/server/soak-verdict.ts';

// Open descriptors are counted in /proc, which only Linux has.
describe.skipIf(process.platform !== 'linux')(
  'the cost of watching a server (needs Linux)',
  { timeout: 60_000 },
  () => {
    let home: string;
    let programs: Programs;

    beforeAll(async () => {
      home = mkdtempSync(join(tmpdir(), 'cobbler-bench-test-'));
      programs = await buildPrograms(home);
    });

    afterAll(() => rmSync(home, { recursive: true, force: true }));

    const figures = ({ rows }: Part) => rows.map(({ value }) => value);

    test('is measured for the same bytes from both servers', async () => {
      const part = await measureFanOut(programs, home, { clients: 3, rounds: 1, frames: 2 });
      expect(figures(part).every((value) => value > 0)).toBe(true);
    });

    test('is measured in memory while the readers stay connected [P17]', async () => {
      const { rows } = await measureIdle(programs, home, { clients: 20, rounds: 1, before: 20 });
      // So few readers may not need one more memory page, and the ratio of zero to zero is not a number.
      const held = rows.filter(({ unit }) => unit === 'KiB').map(({ value }) => value);
      expect(held).toHaveLength(4);
      expect(held.every(Number.isFinite)).toBe(true);
    });

    test('is measured for sending a long session to all its readers', async () => {
      const part = await measureLong(programs, home, { events: 600, readers: 2 });
      expect(figures(part).every(Number.isFinite)).toBe(true);
    });

    test('is measured for prompts that others watch, and no descriptor stays open [P17]', async () => {
      const part = await measurePrompts(programs, home, { clients: 30, prompts: 2 });
      const left = part.rows.at(-1);
      expect(left).toMatchObject({ name: expect.stringContaining('additional descriptors'), most: 0 });
      // The value is negative if a descriptor from the start was closed in the meantime.
      expect(left?.value).toBeLessThanOrEqual(0);
    });
  },
);

describe('a verdict', () => {
  test('fails for a figure over its budget, and for one that is not a number', () => {
    expect(isKept({ name: 'a', value: 1.2, unit: 'x', most: 1.1 })).toBe(false);
    expect(isKept({ name: 'a', value: Number.NaN, unit: 'x', most: 1.1 })).toBe(false);
    expect(isKept({ name: 'a', value: 1.1, unit: 'x', most: 1.1 })).toBe(true);
    expect(partText({ title: 't', rows: [{ name: 'a', value: 2, unit: 'x', most: 1 }] })).toContain(
      'NOT MET',
    );
  });

  const moments = (grow: Partial<Record<keyof Moment, (minute: number) => unknown>>): Moment[] =>
    Array.from({ length: 20 }, (_, index) => {
      const minute = index + 1;
      const grown = Object.entries(grow).map(([name, value]) => [name, value(minute)]);
      const even = { rss: 100, heapUsed: 50, external: 1, descriptors: ['a', 'b'], cpuMs: 1, faults: [] };
      return { minute, ...even, ...Object.fromEntries(grown) };
    });

  test('fails for a soak test in which anything grows after minute 10 [P18]', () => {
    expect(verdictOf(moments({})).isKept).toBe(true);
    // Growth before minute 10 is allowed.
    expect(verdictOf(moments({ rss: (minute) => (minute < 5 ? 50 : 100) })).isKept).toBe(true);
    expect(verdictOf(moments({ rss: (minute) => 100 + minute })).isKept).toBe(false);
    expect(verdictOf(moments({ heapUsed: (minute) => 50 + minute })).isKept).toBe(false);
    expect(verdictOf(moments({ descriptors: (minute) => Array(minute).fill('socket:[1]') })).isKept).toBe(
      false,
    );
    expect(verdictOf(moments({ faults: (minute) => (minute === 12 ? ['500'] : []) })).isKept).toBe(false);
  });
});

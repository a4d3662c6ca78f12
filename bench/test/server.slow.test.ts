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

// Linux has /proc, where descriptors are counted.
describe.skipIf(process.platform !== 'linux')('what watching a server costs', { timeout: 60_000 }, () => {
  let home: string;
  let programs: Programs;

  beforeAll(async () => {
    home = mkdtempSync(join(tmpdir(), 'cobbler-bench-test-'));
    programs = await buildPrograms(home);
  });

  afterAll(() => rmSync(home, { recursive: true, force: true }));

  const figures = ({ rows }: Part) => rows.map(({ value }) => value);

  test('the same bytes reach the readers of both servers', async () => {
    const part = await measureFanOut(programs, home, { clients: 3, rounds: 1, frames: 2 });
    expect(figures(part).every((value) => value > 0)).toBe(true);
  });

  test('readers are held while they are counted [P17]', async () => {
    const { rows } = await measureIdle(programs, home, { clients: 20, rounds: 1, before: 20 });
    // So few may take not one page more, and nothing is so many times nothing.
    const held = rows.filter(({ unit }) => unit === 'KiB').map(({ value }) => value);
    expect(held).toHaveLength(4);
    expect(held.every(Number.isFinite)).toBe(true);
  });

  test('a long session is told to all its readers', async () => {
    const part = await measureLong(programs, home, { events: 600, readers: 2 });
    expect(figures(part).every(Number.isFinite)).toBe(true);
  });

  test('prompts are accepted while others watch, and no descriptor is left [P17]', async () => {
    const part = await measurePrompts(programs, home, { clients: 30, prompts: 2 });
    const left = part.rows.at(-1);
    expect(left).toMatchObject({ name: expect.stringContaining('additional descriptors'), most: 0 });
    // Fewer when one was still to be closed at the beginning.
    expect(left?.value).toBeLessThanOrEqual(0);
  });
});

describe('a verdict', () => {
  test('a figure beyond its budget is not kept, and one that is no number neither', () => {
    expect(isKept({ name: 'a', value: 1.2, unit: 'x', most: 1.1 })).toBe(false);
    expect(isKept({ name: 'a', value: Number.NaN, unit: 'x', most: 1.1 })).toBe(false);
    expect(isKept({ name: 'a', value: 1.1, unit: 'x', most: 1.1 })).toBe(true);
    expect(partText({ title: 't', rows: [{ name: 'a', value: 2, unit: 'x', most: 1 }] })).toContain(
      'NOT KEPT',
    );
  });

  const moments = (grow: Partial<Record<keyof Moment, (minute: number) => unknown>>): Moment[] =>
    Array.from({ length: 20 }, (_, index) => {
      const minute = index + 1;
      const grown = Object.entries(grow).map(([name, value]) => [name, value(minute)]);
      const even = { rss: 100, heapUsed: 50, external: 1, descriptors: ['a', 'b'], cpuMs: 1, faults: [] };
      return { minute, ...even, ...Object.fromEntries(grown) };
    });

  test('a soak that grows from minute 10 on is not passed, whatever grows [P18]', () => {
    expect(verdictOf(moments({})).isKept).toBe(true);
    // Until minute 10 it may.
    expect(verdictOf(moments({ rss: (minute) => (minute < 5 ? 50 : 100) })).isKept).toBe(true);
    expect(verdictOf(moments({ rss: (minute) => 100 + minute })).isKept).toBe(false);
    expect(verdictOf(moments({ heapUsed: (minute) => 50 + minute })).isKept).toBe(false);
    expect(verdictOf(moments({ descriptors: (minute) => Array(minute).fill('socket:[1]') })).isKept).toBe(
      false,
    );
    expect(verdictOf(moments({ faults: (minute) => (minute === 12 ? ['500'] : []) })).isKept).toBe(false);
  });
});

import { expect, test } from 'vitest';
import type { Options } from '../src/options.ts';
import { readOptions } from '../src/options.ts';
import type { Entrant, Sample } from '../src/round.ts';
import { growthOf, median, rowsOf, startRows } from '../src/summary.ts';
import { tableOf } from '../src/table.ts';
import type { Work } from '../src/work.ts';

const work: Work = {
  name: 't400',
  what: 'a test',
  script: { turns: 10, deltas: 1, argumentBytes: 0, fragmentBytes: 1 },
  runs: 1,
  per: 'turn',
  judgedBy: 'median',
  budget: { timesFloor: 2, megabytes: 100 },
};

/** CPU milliseconds of each round. */
function samples(entrant: Entrant, cpu: readonly number[], megabytes = 50): Sample[] {
  return cpu.map((cpuMs, round) => ({
    work: work.name,
    round,
    entrant,
    requests: 10,
    sentBytes: 5000,
    done: {
      turns: 10,
      toolCalls: 9,
      shown: 0,
      text: '',
      cpuMs,
      wallMs: 2 * cpuMs,
      peakBytes: megabytes * 1e6,
    },
  }));
}

test('the median of an even number of values lies between the two in the middle', () => {
  expect(median([9, 1, 3])).toBe(3);
  expect(median([4, 1, 9, 2])).toBe(3);
  expect(median([])).toBeNaN();
});

test('a ratio is the median of those of each round, so that a slow round slows both', () => {
  const rows = rowsOf(work, [...samples('floor', [10, 40, 10]), ...samples('cobbler', [15, 60, 18])]);
  const [floor, cobbler] = rows;
  expect(floor).toMatchObject({ ms: 1, timesFloor: 1, sentBytes: 500, verdicts: [] });
  expect(cobbler).toMatchObject({ ms: 1.8, timesFloor: 1.5, megabytes: 50, wallMs: 3.6 });
});

test('what is judged by the best compares the best of all rounds', () => {
  const best = { ...work, judgedBy: 'best' as const };
  const [, cobbler] = rowsOf(best, [...samples('floor', [20, 10]), ...samples('cobbler', [30, 35])]);
  expect(cobbler).toMatchObject({ ms: 3, timesFloor: 3 });
});

test('each bound of a budget is judged by itself', () => {
  const [, cobbler] = rowsOf(work, [...samples('floor', [10]), ...samples('cobbler', [15], 120)]);
  expect(cobbler?.verdicts).toEqual([
    { bound: '<= 2 x floor', kept: true },
    { bound: '<= 100 MB', kept: false },
  ]);
  expect(tableOf(rowsOf(work, samples('cobbler', [15], 120)))).toContain('<= 100 MB MISSED');
});

test('growth compares turns of the long loop with turns of the short one in the same round', () => {
  const short = { work, samples: samples('cobbler', [10, 20, 30]) };
  const long = { work, samples: samples('cobbler', [12, 24, 60]) };
  expect(growthOf(short, long)).toMatchObject([
    { entrant: 'cobbler', growth: 1.2, verdicts: [{ kept: false }] },
  ]);
});

test('a start is judged against the floor that has loaded the same SDK', () => {
  const start = (entrant: Entrant, startMs: number): Sample => ({
    work: 'cold',
    round: 1,
    entrant,
    startMs,
    requests: 1,
    sentBytes: 100,
  });
  const rows = startRows([
    start('floor', 70),
    start('floor-with-sdk', 160),
    start('cobbler', 180),
    start('cobbler-cli', 140),
  ]);
  const verdicts = Object.fromEntries(rows.map((row) => [row.entrant, row.verdicts.map(({ kept }) => kept)]));
  expect(verdicts).toEqual({ floor: [], 'floor-with-sdk': [], cobbler: [false], 'cobbler-cli': [true] });
});

test('options choose works in their own order, and a mistake is named', () => {
  const expected: Partial<Options> = { works: ['t50', 'cold'], rounds: 2, peers: false, build: false };
  expect(
    readOptions(['--works', 'cold,t50', '--rounds', '2', '--peers', 'none', '--no-build']),
  ).toMatchObject(expected);
  expect(() => readOptions(['--works', 't51'])).toThrow('There is no work t51');
  expect(() => readOptions(['--rounds', '0'])).toThrow('--rounds is 0');
  expect(() => readOptions(['--peers', 'some'])).toThrow('--peers is some');
});

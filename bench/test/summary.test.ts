import { describe, expect, test } from 'vitest';
import { entrantsFor } from '../src/measure.ts';
import type { Options } from '../src/options.ts';
import { readOptions } from '../src/options.ts';
import type { Report } from '../src/report.ts';
import { readReport, reportText } from '../src/report.ts';
import type { Entrant, Sample } from '../src/round.ts';
import type { Row } from '../src/summary.ts';
import { growthRows, median, missedIn, rowsIn, rowsOf, sizeRows, startRows } from '../src/summary.ts';
import { markdownOf, tableOf, textOf } from '../src/table.ts';
import type { Work, WorkName } from '../src/work.ts';

const work: Work = {
  name: 't400',
  what: 'a test',
  script: { turns: 10, deltas: 1, argumentBytes: 0, fragmentBytes: 1 },
  runs: 1,
  per: 'turn',
  judgedBy: 'median',
  budget: { timesFloor: 2, memoryTimesFloor: 1.1 },
};

/** Returns samples with the CPU time of each round in milliseconds. */
function samples(
  entrant: Entrant,
  cpu: readonly number[],
  megabytes = 50,
  name: WorkName = 't400',
): Sample[] {
  return cpu.map((cpuMs, round) => ({
    work: name,
    round,
    entrant,
    requests: 10,
    sentBytes: 5000,
    cost: { cpuMs, wallMs: 2 * cpuMs, peakBytes: megabytes * 1e6 },
  }));
}

function start(entrant: Entrant, startMs: number): Sample {
  return { work: 'cold', round: 1, entrant, startMs, requests: 1, sentBytes: 100 };
}

function kept(rows: readonly Row[]): Record<string, boolean[]> {
  return Object.fromEntries(rows.map((row) => [row.entrant, row.verdicts.map((verdict) => verdict.kept)]));
}

const empty: Report = {
  node: '24.0.0',
  cores: 2,
  day: '2026-11-21',
  rounds: 1,
  samples: [],
  sizes: [],
  reached: [],
};

test('the median of an even number of values is between the two in the middle', () => {
  expect(median([9, 1, 3])).toBe(3);
  expect(median([4, 1, 9, 2])).toBe(3);
  expect(median([])).toBeNaN();
});

describe('ratios', () => {
  test('are medians of the ratios of each round, so that a slow round affects both sides', () => {
    const rows = rowsOf(work, [...samples('floor', [10, 40, 10]), ...samples('cobbler', [15, 60, 18])]);
    const [floor, cobbler] = rows;
    expect(floor).toMatchObject({ figure: 1, unit: 'ms', timesFloor: 1, sentBytes: 500, verdicts: [] });
    expect(cobbler).toMatchObject({ figure: 1.8, timesFloor: 1.5, megabytes: 50, wallMs: 3.6 });
  });

  test('compare the best of all rounds if the workload is judged by the best', () => {
    const best = { ...work, judgedBy: 'best' as const };
    const [, cobbler] = rowsOf(best, [...samples('floor', [20, 10]), ...samples('cobbler', [30, 35])]);
    expect(cobbler).toMatchObject({ figure: 3, timesFloor: 3 });
  });

  test('compare turns of the long and the short loop in the same round for growth', () => {
    const short = samples('cobbler', [50, 100, 150], 50, 't50');
    const long = samples('cobbler', [480, 960, 2400]);
    expect(growthRows(short, long)).toMatchObject([
      { entrant: 'cobbler', figure: 1.2, unit: 'x', verdicts: [{ kept: false, is: '1.20 x t50' }] },
    ]);
    expect(growthRows([], long)).toEqual([]);
  });
});

describe('budgets', () => {
  test('judge each bound separately', () => {
    const [, cobbler] = rowsOf(work, [...samples('floor', [10]), ...samples('cobbler', [15], 120)]);
    expect(cobbler?.verdicts).toEqual([
      { bound: '<= 2 x floor', is: '1.50 x floor', kept: true },
      { bound: '<= 1.1 x floor memory', is: '2.40 x floor memory', kept: false },
    ]);
    expect(tableOf(cobbler === undefined ? [] : [cobbler])).toContain(
      '<= 2 x floor met, <= 1.1 x floor memory NOT MET',
    );
  });

  test('judge a start and a waiting run against the floor', () => {
    const waits = (entrant: Entrant, heapBytes: number): Sample => ({
      ...start(entrant, 0),
      work: 'waiting',
      heapBytes,
    });
    const report = { ...empty, samples: [waits('floor', 10_000), waits('cobbler', 16_100)] };
    expect(missedIn(rowsIn(report))).toEqual([
      'waiting, cobbler: 1.61 x floor, but the budget is <= 1.6 x floor',
    ]);
    const rows = startRows([
      start('floor', 70),
      start('floor-with-sdk', 160),
      start('cobbler', 92),
      start('cobbler-cli', 140),
      start('cobbler-cli-first', 400),
    ]);
    expect(kept(rows)).toEqual({
      floor: [],
      'floor-with-sdk': [],
      cobbler: [false],
      'cobbler-cli': [true],
      'cobbler-cli-first': [],
    });
  });

  test('judge a size by its compressed bytes and by the packages that the main entry loads', () => {
    const sizes = (gzipBytes: number) => [
      { entrant: 'cobbler' as const, gzipBytes, laterBytes: 3400 },
      { entrant: 'ai-sdk' as const, gzipBytes: 130_000, laterBytes: 0 },
    ];
    const lazyZod = [{ name: 'zod', lazily: true }];
    expect(kept(sizeRows(sizes(30_000), []))).toEqual({ cobbler: [true, true], 'ai-sdk': [] });
    expect(kept(sizeRows(sizes(30_001), lazyZod))).toEqual({ cobbler: [false, true], 'ai-sdk': [] });
    expect(kept(sizeRows(sizes(1), [{ name: 'zod', lazily: false }]))['cobbler']).toEqual([true, false]);
    expect(kept(sizeRows(sizes(1), [{ name: 'yaml', lazily: true }]))['cobbler']).toEqual([true, false]);
    expect(tableOf(sizeRows(sizes(30_000), []))).toMatch(/cobbler +30\.0 KB \+ 3\.40 later/);
  });

  test('report the measured value if they are not met', () => {
    const report: Report = {
      ...empty,
      samples: [...samples('floor', [10]), ...samples('cobbler', [31])],
      sizes: [{ entrant: 'cobbler', gzipBytes: 35_000, laterBytes: 0 }],
    };
    expect(missedIn(rowsIn(report))).toEqual([
      't400, cobbler: 3.10 x floor, but the budget is <= 1.4 x floor',
      'size, cobbler: 35.0 KB, but the budget is <= 30 KB',
    ]);
    expect(textOf(report)).toContain('2 of 4 budgets were not met: t400, cobbler: 3.10 x floor');
    expect(textOf({ ...empty, samples: samples('floor', [10]) })).toContain(
      'Nothing with a budget was measured',
    );
  });
});

test('rows are in the order of the workloads, with growth after the loops that it compares', () => {
  const report: Report = {
    ...empty,
    sizes: [{ entrant: 'cobbler', gzipBytes: 8, laterBytes: 0 }],
    samples: [
      start('floor', 70),
      ...samples('cobbler', [5], 50, 's20k'),
      ...samples('cobbler', [9]),
      ...samples('cobbler', [1], 50, 't50'),
      ...samples('floor', [1], 50, 't50'),
    ],
  };
  const order = rowsIn(report).map((row) => `${row.work} ${row.entrant}`);
  expect(order).toEqual([
    't50 floor',
    't50 cobbler',
    't400 cobbler',
    't400 to t50 cobbler',
    's20k cobbler',
    'cold floor',
    'size cobbler',
  ]);
  const lines = markdownOf(report).split('\n');
  expect(lines[2]).toMatch(/^\| work \| entrant \|/);
  expect(lines.filter((line) => line.startsWith('| '))).toHaveLength(2 + order.length);
});

test('a stored report gives the same rows, and other input is rejected', () => {
  const report: Report = { ...empty, samples: [...samples('floor', [10.5]), ...samples('cobbler', [15])] };
  expect(rowsIn(readReport(reportText(report)))).toEqual(rowsIn(report));
  expect(reportText({ ...empty, samples: samples('floor', [1 / 3]) })).toContain('"cpuMs":0.333,');
  expect(() => readReport('{}')).toThrow('not written by --json');
});

test('without peers, only the floor and Cobbler are measured', () => {
  expect(entrantsFor('t50', { peers: false }, true)).toEqual(['floor', 'cobbler']);
  expect(entrantsFor('cold', { peers: false }, false)).toEqual(['floor-with-sdk', 'floor', 'cobbler']);
  expect(entrantsFor('cold', { peers: true }, true)).toContain('cobbler-cli-first');
  expect(entrantsFor('size', { peers: true }, true)).not.toContain('floor');
});

test('options select workloads in a fixed order, and an error names the invalid option', () => {
  const expected: Partial<Options> = {
    works: ['t50', 'cold'],
    rounds: 2,
    peers: false,
    build: false,
    strict: false,
  };
  expect(
    readOptions(['--works', 'cold,t50', '--rounds', '2', '--peers', 'none', '--no-build', '--no-strict']),
  ).toMatchObject(expected);
  expect(readOptions([])).toMatchObject({ rounds: 5, strict: true, peers: true, help: false });
  expect(readOptions(['-h']).help).toBe(true);
  expect(() => readOptions(['--works', 't51'])).toThrow('There is no workload t51');
  expect(() => readOptions(['--rounds', '0'])).toThrow('--rounds cannot be 0');
  expect(() => readOptions(['--peers', 'some'])).toThrow('--peers cannot be some');
  expect(() => readOptions(['--from', 'a', '--json', 'b'])).toThrow('cannot be used together');
});

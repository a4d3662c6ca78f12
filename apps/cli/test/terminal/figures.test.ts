import { describe, expect, test } from 'vitest';
import {
  formatCount,
  formatMs,
  formatSeconds,
  formatUsd,
  parseCount,
  parseDuration,
  parseUsd,
} from '../../src/terminal/format.ts';

test.each([
  [3.4, '3 ms'],
  [99, '99 ms'],
  [120, '0.1 s'],
  [12_360, '12.4 s'],
  [59_990, '59 s'],
  [125_000, '2 m 05 s'],
  [3_900_000, '1 h 05 m'],
])('formatMs(%d) is %s', (ms, text) => {
  expect(formatMs(ms)).toBe(text);
});

test('formatSeconds shows whole seconds', () => {
  expect(formatSeconds(8999)).toBe('8 s');
});

test.each([
  [0, '0'],
  [310, '310'],
  [9120, '9.1k'],
  [12_345, '12k'],
  [1_000_000, '1M'],
  [1_240_000, '1.2M'],
])('formatCount(%d) is %s', (count, text) => {
  expect(formatCount(count)).toBe(text);
});

test.each([
  [0, '$0.00'],
  [0.0001, '<$0.001'],
  [0.0123, '$0.012'],
  [1.5, '$1.50'],
  [0.9999, '$1.00'],
])('formatUsd(%d) is %s', (usd, text) => {
  expect(formatUsd(usd)).toBe(text);
});

describe('parsing', () => {
  test.each([
    ['90', 90_000],
    ['90s', 90_000],
    ['10m', 600_000],
    ['1h30m', 5_400_000],
    ['500ms', 500],
    ['0', undefined],
    ['', undefined],
    ['10x', undefined],
    ['-5s', undefined],
  ])('reads the duration %j as %s ms', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  test.each([
    ['200k', 200_000],
    ['1.5M', 1_500_000],
    ['50', 50],
    ['0', undefined],
    ['1.5', undefined],
    ['many', undefined],
  ])('reads the count %j as %s', (text, count) => {
    expect(parseCount(text)).toBe(count);
  });

  test.each([
    ['0.50', 0.5],
    ['$2', 2],
    ['.25', 0.25],
    ['0', undefined],
    ['-1', undefined],
    ['1e3', undefined],
  ])('reads the amount %j as %s', (text, usd) => {
    expect(parseUsd(text)).toBe(usd);
  });
});

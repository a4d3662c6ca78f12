import { describe, expect, test } from 'vitest';
import type { RequestTiming } from '../../src/provider/request/cache-lifetime.ts';
import { maxPaid, timingAfter } from '../../src/provider/request/cache-lifetime.ts';

const short = { ms: 300_000, write: 1.25, mark: 'short' };
const long = { ms: 3_600_000, write: 2, mark: 'long' };
const cache = { lifetimes: [short, long], read: 0.1 };

const quick = 2_000;
const minutes = 400_000;
const hours = 7_200_000;

/** Returns the lifetimes chosen for requests after these pauses, and the relative cost. */
function requests(pauses: readonly number[], bytes: (index: number) => number = () => 1_000) {
  let rhythm: RequestTiming | undefined;
  let now = 0;
  const chosen = [0, ...pauses].map((pause, index) => {
    now += pause;
    rhythm = timingAfter(rhythm, { now, bytes: bytes(index), wanted: true }, cache);
    return rhythm.lifetime?.mark ?? 'none';
  });
  return { chosen, share: rhythm === undefined ? 0 : rhythm.paid / rhythm.sent };
}

const times = (count: number, pause: number) => Array.from({ length: count }, () => pause);

describe('the cache lifetime', () => {
  test('is the shortest one while all pauses are shorter', () => {
    expect(new Set(requests(times(60, quick)).chosen)).toEqual(new Set(['short']));
  });

  test('is the longer one after longer pauses, as soon as its cost is within the limit', () => {
    const { chosen, share } = requests(times(49, minutes));
    expect(chosen.slice(0, 5)).toEqual(['short', 'none', 'none', 'long', 'long']);
    expect(new Set(chosen.slice(3))).toEqual(new Set(['long']));
    expect(share).toBeLessThan(0.2);
  });

  test('is the longer one after a single long pause if many quick requests saved its cost', () => {
    const { chosen } = requests([...times(10, quick), minutes, ...times(5, quick), minutes]);
    expect(chosen.slice(0, 11)).toEqual(times(11, 0).map(() => 'short'));
    expect(new Set(chosen.slice(11))).toEqual(new Set(['long']));
  });

  test('is the short one again after many quick requests', () => {
    expect(requests([...times(10, quick), minutes, ...times(150, quick)]).chosen.at(-1)).toBe('short');
  });

  test('is omitted if pauses exceed every lifetime', () => {
    const { chosen, share } = requests(times(19, hours));
    expect(chosen).toEqual(['short', ...times(19, 0).map(() => 'none')]);
    expect(share).toBeCloseTo(1 + 0.25 / 20, 10);
  });

  test('is chosen again when quick requests resume', () => {
    expect(requests([hours, hours, ...times(4, quick)]).chosen.slice(-2)).toEqual(['short', 'short']);
  });

  test('ignores a clock that was set back', () => {
    expect(requests([quick, -hours, quick]).chosen).toEqual(['short', 'short', 'short', 'short']);
  });
});

test('no sequence of nine pauses costs more than the limit', () => {
  const kinds = [quick, minutes, hours];
  let worst = 0;
  for (let code = 0; code < 3 ** 9; code += 1) {
    const pauses = Array.from({ length: 9 }, (_, place) => kinds[Math.floor(code / 3 ** place) % 3] ?? 0);
    for (const grows of [0, 400]) {
      worst = Math.max(worst, requests(pauses, (index) => 1_000 + index * grows).share);
    }
  }
  expect(worst).toBeGreaterThan(1.2);
  expect(worst).toBeLessThanOrEqual(maxPaid);
});

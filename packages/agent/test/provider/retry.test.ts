import { describe, expect, test } from 'vitest';
import { retryAfterOf } from '../../src/provider/http/retry-after.ts';
import { defaultRetry, planRetry, retryPolicyOf } from '../../src/provider/retry-policy.ts';
import { backoff } from '../../src/values/backoff.ts';

const now = () => Date.UTC(2026, 10, 21, 12, 0, 0);

function asked(headers: Record<string, string>): number | undefined {
  return retryAfterOf((name) => headers[name], now);
}

describe('the delay that a service requests [P7]', () => {
  test.each([
    ['seconds', { 'retry-after': '7' }, 7000],
    ['fractions of a second', { 'retry-after': ' 1.5 ' }, 1500],
    ['milliseconds', { 'retry-after-ms': '250' }, 250],
    ['milliseconds before seconds', { 'retry-after-ms': '250', 'retry-after': '9' }, 250],
    ['an HTTP date', { 'retry-after': 'Sat, 21 Nov 2026 12:00:30 GMT' }, 30_000],
    ['an HTTP date in another year', { 'retry-after': 'Mon, 01 Mar 2027 00:00:00 GMT' }, 8_596_800_000],
    ['an obsolete HTTP date', { 'retry-after': 'Saturday, 21-Nov-26 12:01:00 GMT' }, 60_000],
    ['a very large number', { 'retry-after': '9'.repeat(400) }, Number.MAX_SAFE_INTEGER],
  ])('%s', (_name, headers, expected) => {
    expect(asked(headers)).toBe(expected);
  });

  test.each([
    ['nothing', {}],
    ['zero', { 'retry-after': '0' }],
    ['zero milliseconds', { 'retry-after-ms': '0' }],
    ['a negative number', { 'retry-after': '-5' }],
    ['junk', { 'retry-after': 'soon' }],
    ['not a number', { 'retry-after-ms': 'NaN' }],
    ['hexadecimal', { 'retry-after': '0x10' }],
    ['a date that has passed', { 'retry-after': 'Sat, 21 Nov 2026 11:59:59 GMT' }],
    ['a date with an invalid month', { 'retry-after': 'Sat, 21 Foo 2026 12:10:00 GMT' }],
  ])('%s requests no delay', (_name, headers) => {
    expect(asked(headers)).toBeUndefined();
  });

  test('dates of several years are parsed', () => {
    for (let day = 0; day < 3000; day += 13) {
      const time = now() + day * 86_400_000 + 5000;
      expect(asked({ 'retry-after': new Date(time).toUTCString() })).toBe(time - now());
    }
  });
});

describe('backoff [P5]', () => {
  test('doubles up to 30 s, half fixed and half random', () => {
    const least = [0, 1, 2, 3, 4, 5, 6, 9].map((retry) => backoff(defaultRetry, retry, 0));
    const most = [0, 1, 2, 3, 4, 5, 6, 9].map((retry) => backoff(defaultRetry, retry, 1));
    expect(least).toEqual([250, 500, 1000, 2000, 4000, 8000, 15_000, 15_000]);
    expect(most).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
  });

  test('is limited only by a given number of retries, unless a time is given too', () => {
    expect(retryPolicyOf()).toEqual(defaultRetry);
    expect(retryPolicyOf({ retries: 1 })).toEqual({ ...defaultRetry, retries: 1, forMs: 0 });
    expect(retryPolicyOf({ retries: 0, forMs: 9 })).toEqual({ ...defaultRetry, retries: 0, forMs: 9 });
    expect(retryPolicyOf({ forMs: 0 })).toEqual({ ...defaultRetry, retries: 0, forMs: 0 });
    expect(retryPolicyOf({ baseMs: 10 }).forMs).toBe(300_000);
  });
});

describe('planRetry', () => {
  const first = { failures: 1, counted: 0, elapsedMs: 0, retryable: true };
  const failed = { ...first, remainingMs: 600_000, random: 0.5 };

  test('stops after a failure that is not retryable', () => {
    expect(planRetry(defaultRetry, { ...failed, retryable: false })).toEqual({ type: 'stop' });
  });

  test('allows three retries of interrupted responses [P5]', () => {
    const plan = (failures: number) =>
      planRetry(defaultRetry, { ...failed, failures, counted: failures }).type;
    expect([1, 2, 3, 4].map(plan)).toEqual(['wait', 'wait', 'wait', 'stop']);
  });

  test('allows any number of retries within the time limit and returns the time left [P5]', () => {
    const plan = (elapsedMs: number) => planRetry(defaultRetry, { ...failed, failures: 50, elapsedMs });
    expect(plan(0)).toEqual({ type: 'wait', delayMs: 22_500, leftMs: 277_500 });
    expect(plan(277_500)).toEqual({ type: 'wait', delayMs: 22_500, leftMs: 0 });
    expect(plan(277_501)).toEqual({ type: 'stop' });
    const short = planRetry(defaultRetry, { ...failed, remainingMs: 60_000 });
    expect(short).toEqual({ type: 'wait', delayMs: 375, leftMs: 59_625 });
  });

  test('allows three retries beyond the time limit [P5]', () => {
    const late = { ...failed, elapsedMs: 400_000 };
    expect(planRetry(defaultRetry, { ...late, failures: 3 })).toEqual({ type: 'wait', delayMs: 1500 });
    expect(planRetry(defaultRetry, { ...late, failures: 4 })).toEqual({ type: 'stop' });
  });

  test('uses the requested delay exactly, up to a minute [P7]', () => {
    expect(planRetry(defaultRetry, { ...failed, retryAfterMs: 60_000 })).toEqual({
      type: 'wait',
      delayMs: 60_000,
      leftMs: 240_000,
    });
    expect(planRetry(defaultRetry, { ...failed, retryAfterMs: 60_001 })).toEqual({ type: 'too_long' });
  });

  test('starts no delay longer than the remaining time [P7]', () => {
    expect(planRetry(defaultRetry, { ...failed, retryAfterMs: 5000, remainingMs: 4999 })).toEqual({
      type: 'too_long',
    });
    expect(planRetry(defaultRetry, { ...failed, remainingMs: 100 })).toEqual({ type: 'stop' });
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AgentError } from '../src/errors.ts';
import type { Reservation } from '../src/limits.ts';
import { Budget, costOf } from '../src/limits.ts';

describe('a budget', () => {
  it('holds back what a call may cost and gives the rest back', () => {
    const budget = new Budget({ tokens: 100, usd: 1 });
    const held = budget.reserve(60, 0.5);
    expect([budget.tokensLeft, budget.usdLeft]).toEqual([40, 0.5]);
    held.settle(10, 0.125);
    expect([budget.tokens, budget.usd, budget.tokensLeft, budget.usdLeft]).toEqual([10, 0.125, 90, 0.875]);
  });

  it('books a call once', () => {
    const budget = new Budget({ tokens: 100 });
    const held = budget.reserve(60, 0);
    held.settle(10, 0);
    held.settle(50, 9);
    expect([budget.tokens, budget.usd, budget.tokensLeft]).toEqual([10, 0, 90]);
  });

  it('P1 refuses with the limit named, and holds nothing back then', () => {
    const budget = new Budget({ tokens: 100, usd: 1 });
    const refused = (tokens: number, usd: number): AgentError | undefined => {
      try {
        budget.reserve(tokens, usd);
      } catch (error) {
        return AgentError.is(error) ? error : undefined;
      }
      return undefined;
    };
    expect(refused(101, 0)).toMatchObject({ kind: 'limit', code: 'tokens' });
    expect(refused(1, 1.01)).toMatchObject({ kind: 'limit', code: 'usd' });
    expect([budget.tokensLeft, budget.usdLeft]).toEqual([100, 1]);
  });

  it('knows whether money is limited', () => {
    expect([new Budget().limitsMoney, new Budget({ usd: 0 }).limitsMoney]).toEqual([false, true]);
    expect(new Budget().tokensLeft).toBe(Number.POSITIVE_INFINITY);
  });

  it('is never passed by calls side by side, in whatever order they are booked', () => {
    const call = fc.record({
      worst: fc.nat(50),
      part: fc.double({ min: 0, max: 1, noNaN: true }),
      wait: fc.nat(4),
    });
    fc.assert(
      fc.property(fc.nat(200), fc.array(call, { maxLength: 30 }), (limit, made) => {
        const budget = new Budget({ tokens: limit });
        const open: { reservation: Reservation; used: number; wait: number }[] = [];
        for (const { worst, part, wait } of made) {
          try {
            open.push({ reservation: budget.reserve(worst, 0), used: Math.floor(worst * part), wait });
          } catch (error) {
            expect(AgentError.is(error) && error.kind).toBe('limit');
          }
          for (const each of open) {
            each.wait -= 1;
            if (each.wait === 0) each.reservation.settle(each.used, 0);
          }
          expect(budget.tokens).toBeLessThanOrEqual(limit);
          expect(budget.tokensLeft).toBeGreaterThanOrEqual(0);
        }
        for (const { reservation, used } of open) reservation.settle(used, 0);
        expect(budget.tokensLeft).toBe(limit - budget.tokens);
      }),
      { numRuns: 200, seed: 1 },
    );
  });
});

describe('costOf', () => {
  const usage = {
    inputTokens: 1_000_000,
    outputTokens: 100_000,
    cacheReadTokens: 500_000,
    cacheWriteTokens: 200_000,
  };

  it('prices what was cached apart from the rest', () => {
    expect(costOf(usage, { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 })).toBeCloseTo(
      0.9 + 0.15 + 0.75 + 1.5,
      10,
    );
  });

  it('takes the price of input where none is given for the cache, and never less than nothing', () => {
    expect(costOf(usage, { input: 3, output: 15 })).toBeCloseTo(4.5, 10);
    expect(costOf({ ...usage, inputTokens: 1 }, { input: 3, output: 0, cacheRead: 0, cacheWrite: 0 })).toBe(
      0,
    );
  });
});

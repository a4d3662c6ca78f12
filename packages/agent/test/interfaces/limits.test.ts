import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Agent, ModelResponse } from '../../src/interfaces/agent.ts';
import { Budget } from '../../src/interfaces/budget.ts';
import type { Price } from '../../src/interfaces/limits.ts';
import { costOf, dearestInput } from '../../src/interfaces/limits.ts';
import type { Reservation } from '../../src/interfaces/reservation.ts';
import { Executor } from '../../src/loop/executor.ts';
import { AgentError } from '../../src/values/errors.ts';
import type { Usage } from '../../src/values/usage.ts';

describe('a budget', () => {
  it('reserves the maximum cost of a call and releases the rest [B1, B2]', () => {
    const budget = new Budget({ tokens: 100, usd: 1 });
    const held = budget.reserve(60, 0.5);
    expect([budget.tokensLeft, budget.usdLeft]).toEqual([40, 0.5]);
    held.settle(10, 0.125);
    expect([budget.tokens, budget.usd, budget.tokensLeft, budget.usdLeft]).toEqual([10, 0.125, 90, 0.875]);
  });

  it('charges a call once [B2]', () => {
    const budget = new Budget({ tokens: 100 });
    const held = budget.reserve(60, 0);
    held.settle(10, 0);
    held.settle(50, 9);
    expect([budget.tokens, budget.usd, budget.tokensLeft]).toEqual([10, 0, 90]);
  });

  it('names the limit when it rejects a reservation, and then reserves nothing [P1]', () => {
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

  it('reserves money like tokens [P1]', () => {
    const budget = new Budget({ usd: 1 });
    const held = budget.reserve(0, 0.75);
    expect(() => budget.reserve(0, 0.5)).toThrow(/no room for the next request/);
    held.settle(0, 0.5);
    budget.reserve(0, 0.5).settle(0, 0.5);
    expect(() => budget.reserve(0, 0.125)).toThrow(/no room/);
    expect(budget.usd).toBe(1);
  });

  it('keeps the full amount reserved for a retry, and charges what failed attempts used [B1, B2]', () => {
    const budget = new Budget({ tokens: 100, usd: 1 });
    const held = budget.reserve(40, 0.25);
    expect(held.again(30, 0.25)).toBe(true);
    expect([budget.tokens, budget.usd, budget.tokensLeft, budget.usdLeft]).toEqual([30, 0.25, 30, 0.5]);
    // The reported usage is the total so far, not the increase.
    expect(held.again(60, 0.5)).toBe(true);
    expect([budget.tokens, budget.tokensLeft]).toEqual([60, 0]);
    held.settle(90, 0.75);
    expect([budget.tokens, budget.usd, budget.tokensLeft, budget.usdLeft]).toEqual([90, 0.75, 10, 0.25]);
    expect(held.again(90, 0.75)).toBe(false);
  });

  it('refuses a retry without room, and still charges the usage at the end [B1]', () => {
    const budget = new Budget({ tokens: 100, usd: 1 });
    const held = budget.reserve(60, 0.5);
    expect([held.again(41, 0), held.again(0, 0.51)]).toEqual([false, false]);
    expect([budget.tokens, budget.tokensLeft, budget.usdLeft]).toEqual([0, 40, 0.5]);
    held.settle(41, 0.51);
    expect([budget.tokens, budget.usd, budget.tokensLeft]).toEqual([41, 0.51, 59]);
  });

  it('reports whether money is limited', () => {
    expect([new Budget().limitsMoney, new Budget({ usd: 0 }).limitsMoney]).toEqual([false, true]);
    expect(new Budget().tokensLeft).toBe(Number.POSITIVE_INFINITY);
  });

  it('is never exceeded by parallel calls, in whatever order they are settled [B1]', () => {
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

  it('prices cached input separately', () => {
    expect(costOf(usage, { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 })).toBeCloseTo(
      0.9 + 0.15 + 0.75 + 1.5,
      10,
    );
  });

  it('prices writes for the longer lifetime separately', () => {
    const price = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75, cacheWriteLong: 6 };
    const kept = { ...usage, cacheWriteLongTokens: 150_000 };
    expect(costOf(kept, price)).toBeCloseTo(0.9 + 0.15 + 50_000e-6 * 3.75 + 150_000e-6 * 6 + 1.5, 10);
    const { cacheWriteLong: _, ...plain } = price;
    expect(costOf(kept, plain)).toBe(costOf(usage, plain));
    // The long-lived part cannot exceed the tokens written.
    expect(costOf({ ...kept, cacheWriteLongTokens: 9e9 }, price)).toBeCloseTo(0.9 + 0.15 + 1.2 + 1.5, 10);
  });

  it('uses the most expensive price while the effect of the cache is unknown', () => {
    const dearest = (price: Partial<Price>) =>
      dearestInput(2_000_000, { input: 3, output: 15, cacheRead: 0.3, ...price });
    expect([
      dearest({}),
      dearest({ cacheWrite: 3.75 }),
      dearest({ cacheWrite: 1, cacheWriteLong: 6 }),
    ]).toEqual([6, 7.5, 12]);
  });

  it('uses the input price if no cache price is given, and never less than zero', () => {
    expect(costOf(usage, { input: 3, output: 15 })).toBeCloseTo(4.5, 10);
    expect(costOf({ ...usage, inputTokens: 1 }, { input: 3, output: 0, cacheRead: 0, cacheWrite: 0 })).toBe(
      0,
    );
  });
});

describe('a request that fails repeatedly', () => {
  const used: Usage = { inputTokens: 2_000, outputTokens: 3_000 };

  /** Returns an agent that fails all its attempts, until it may not retry. */
  function cutting(attempts: number) {
    const asked: boolean[] = [];
    const agent: Agent = {
      provider: 'cut',
      model: 'cut-1',
      capabilities: {} as Agent['capabilities'],
      async run(_request, context): Promise<ModelResponse> {
        let wasted = { inputTokens: 0, outputTokens: 0 };
        do {
          wasted = {
            inputTokens: wasted.inputTokens + used.inputTokens,
            outputTokens: wasted.outputTokens + used.outputTokens,
          };
          if (asked.length === attempts - 1) break;
          asked.push((await context?.mayRetry?.(wasted)) ?? true);
        } while (asked.at(-1) === true);
        throw new AgentError({ kind: 'network', message: 'cut', wasted });
      },
    };
    return { agent, asked };
  }

  it('is abandoned before its attempts together exceed the limit [P1]', async () => {
    const { agent, asked } = cutting(99);
    const budget = new Budget({ tokens: 20_000 });
    const executor = new Executor({ agent, request: { maxTokens: 3_000 } });
    const result = await executor.run('Go.', { budget });
    expect(result.error?.kind).toBe('network');
    // After four attempts nothing is left to reserve for a fifth.
    expect(asked).toEqual([true, true, true, false]);
    expect(budget.tokens).toBe(20_000);
    expect(budget.tokensLeft).toBe(0);
    expect(result.metrics.wasted).toEqual({ inputTokens: 8_000, outputTokens: 12_000 });
  });

  it('is retried each time if there is no limit, and charged once [B2]', async () => {
    const { agent, asked } = cutting(6);
    const budget = new Budget();
    await new Executor({ agent }).run('Go.', { budget });
    expect(asked).toEqual([true, true, true, true, true]);
    expect(budget.tokens).toBe(6 * 5_000);
  });
});

import { describe, expect, it } from 'vitest';
import { countAnswer, noMetrics } from '../../src/interfaces/metrics.ts';
import type { Usage } from '../../src/values/usage.ts';
import { addUsage, isNoUsage, noUsage } from '../../src/values/usage.ts';

describe('usage', () => {
  it('adds up, and a detail is unknown only if neither side reports it [P14]', () => {
    const left: Usage = { inputTokens: 10, outputTokens: 2, cacheReadTokens: 4 };
    const right: Usage = { inputTokens: 5, outputTokens: 1, reasoningTokens: 1, estimated: true };
    expect(addUsage(left, right)).toEqual({
      inputTokens: 15,
      outputTokens: 3,
      cacheReadTokens: 4,
      reasoningTokens: 1,
      estimated: true,
    });
    expect(addUsage(left, noUsage)).toEqual(left);
    expect(addUsage(left, right)).toEqual(addUsage(right, left));
  });

  it('is empty only if no token was used', () => {
    expect(isNoUsage(noUsage)).toBe(true);
    expect(isNoUsage({ inputTokens: 0, outputTokens: 1 })).toBe(false);
    expect(isNoUsage({ inputTokens: 1, outputTokens: 0 })).toBe(false);
  });
});

describe('metrics', () => {
  const answer = {
    usage: { inputTokens: 10, outputTokens: 2, cacheReadTokens: 4, cacheWriteTokens: 3, reasoningTokens: 1 },
    wasted: { inputTokens: 7, outputTokens: 0 },
    attempts: 2,
    durationMs: 30,
    usd: 0.5,
  };

  it('count a response once, and wasted usage separately [S0.24, P14]', () => {
    expect(countAnswer(countAnswer(noMetrics, answer), answer)).toMatchObject({
      totalInputTokens: 20,
      totalOutputTokens: 4,
      invocations: 2,
      cacheReadTokens: 8,
      cacheWriteTokens: 6,
      reasoningTokens: 2,
      attempts: 4,
      wasted: { inputTokens: 14, outputTokens: 0 },
      usd: 1,
      modelMs: 60,
    });
  });

  it('have no cost after a response without a price', () => {
    const { usd: _, ...unpriced } = answer;
    const metrics = countAnswer(countAnswer(noMetrics, unpriced), answer);
    expect(metrics).not.toHaveProperty('usd');
    expect(noMetrics.usd).toBe(0);
  });
});

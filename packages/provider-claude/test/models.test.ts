import { describe, expect, test } from 'vitest';
import {
  claudeModels,
  claudePrice,
  claudePriceSource,
  claudePricing,
  modelId,
  thinkingTraits,
} from '../src/models.ts';

describe('aliases', () => {
  test.each([
    ['fast', 'claude-haiku-5-5'],
    ['balanced', 'claude-sonnet-5-5'],
    ['best', 'claude-opus-5-5'],
  ])('%s resolves to %s', (alias, id) => {
    expect(modelId(alias)).toBe(id);
  });

  test('leave any other name unchanged, as an id', () => {
    expect(modelId('claude-of-tomorrow')).toBe('claude-of-tomorrow');
  });
});

describe('prices', () => {
  test('are undefined for an unknown model, not zero', () => {
    expect(claudePrice('claude-fable-5-2')).toBeUndefined();
    expect(claudePrice('claude-of-tomorrow')).toBeUndefined();
    expect(claudePricing('openai', 'claude-opus-5-5')).toBeUndefined();
  });

  test('use the higher rate of Haiku 5.5 for a long prompt or an unknown length', () => {
    expect(claudePrice('fast', 100_000)?.input).toBe(0.1);
    expect(claudePrice('fast', 100_001)?.input).toBe(0.5);
    expect(claudePricing('claude', 'claude-haiku-5-5')?.output).toBe(2.5);
  });

  test('are lower for cache reads and higher for cache writes than for input', () => {
    for (const { price } of claudeModels) {
      if (price === undefined) continue;
      expect(price.cacheRead).toBeLessThan(price.input);
      expect(price.cacheWrite).toBeCloseTo(price.input * 1.25);
      expect(price.cacheWriteLong).toBeCloseTo(price.input * 2);
    }
  });

  test('are complete for each alias, with source and date', () => {
    for (const alias of ['fast', 'balanced', 'best']) {
      const price = claudePrice(alias, 1000);
      expect(Object.keys(price ?? {}).sort()).toEqual([
        'cacheRead',
        'cacheWrite',
        'cacheWriteLong',
        'input',
        'output',
      ]);
    }
    expect(claudePriceSource.from).toMatch(/^https:\/\/platform\.claude\.com\//);
    expect(claudePriceSource.on).toMatch(/^20\d\d-\d\d-\d\d$/);
  });
});

describe('thinking traits', () => {
  test.each([
    ['claude-haiku-5-5', true, true],
    ['claude-opus-5-5-20260922', true, true],
    ['claude-fable-5-1', true, true],
    ['claude-opus-5', true, false],
    ['claude-opus-5-20260724', true, false],
    ['claude-sonnet-4-6', true, false],
    ['claude-haiku-4-5-20251001', false, false],
    ['claude-opus-6', true, true],
    ['llama-4', false, false],
  ])('%s: adaptive %s, prefix binding %s', (id, adaptive, binding) => {
    expect(thinkingTraits(id)).toEqual({ adaptive, binding });
  });
});

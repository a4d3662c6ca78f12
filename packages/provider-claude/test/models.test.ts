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
  ])('%s stands for %s', (alias, id) => {
    expect(modelId(alias)).toBe(id);
  });

  test('any other name is an id', () => {
    expect(modelId('claude-of-tomorrow')).toBe('claude-of-tomorrow');
  });
});

describe('prices', () => {
  test('an unknown model has no price, which is not a price of zero', () => {
    expect(claudePrice('claude-fable-5-2')).toBeUndefined();
    expect(claudePrice('claude-of-tomorrow')).toBeUndefined();
    expect(claudePricing('openai', 'claude-opus-5-5')).toBeUndefined();
  });

  test('Haiku 5.5 costs more for a long prompt, and counts as dear when the length is not known', () => {
    expect(claudePrice('fast', 100_000)?.input).toBe(0.1);
    expect(claudePrice('fast', 100_001)?.input).toBe(0.5);
    expect(claudePricing('claude', 'claude-haiku-5-5')?.output).toBe(2.5);
  });

  test('reading the cache is cheaper than input, and writing it dearer', () => {
    for (const { price } of claudeModels) {
      if (price === undefined) continue;
      expect(price.cacheRead).toBeLessThan(price.input);
      expect(price.cacheWrite).toBeCloseTo(price.input * 1.25);
      expect(price.cacheWriteLong).toBeCloseTo(price.input * 2);
    }
  });

  test('each alias has a price of every kind, and it is known where and when it was read', () => {
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

describe('how a model thinks', () => {
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
  ])('%s: adaptive %s, tied to its prefix %s', (id, adaptive, binding) => {
    expect(thinkingTraits(id)).toEqual({ adaptive, binding });
  });
});

import { expect, test } from 'vitest';
import { claudeModels } from '../src/models.ts';
import { claudePrice, claudePrices, claudePricing } from '../src/prices.ts';

test('prices are undefined for an unknown model, not zero', () => {
  expect(claudePrice('claude-of-tomorrow')).toBeUndefined();
  expect(claudePrice('toString')).toBeUndefined();
  expect(claudePricing('openai', 'claude-opus-5-5')).toBeUndefined();
});

test('Haiku 5.5 has its higher price for a long prompt or an unknown length', () => {
  expect(claudePrice('fast', 100_000)?.input).toBe(0.1);
  expect(claudePrice('fast', 100_001)?.input).toBe(0.5);
  expect(claudePricing('claude', 'claude-haiku-5-5')?.output).toBe(2.5);
});

test('the table prices every listed model once, in full, with its source and date', () => {
  expect(claudePrices.map(({ model }) => model).sort()).toEqual(claudeModels.map(({ id }) => id).sort());
  for (const { price, longPrompt, batch, source } of claudePrices) {
    for (const { input, output, cacheRead = 0, cacheWrite, cacheWriteLong } of [
      price,
      longPrompt?.price ?? price,
    ]) {
      expect(output).toBe(5 * input);
      expect(cacheRead > 0 && cacheRead < input).toBe(true);
      expect([cacheWrite, cacheWriteLong]).toEqual([1.25 * input, 2 * input]);
    }
    expect(batch).toBe(0.5);
    expect(source.from).toMatch(/^https:\/\/platform\.claude\.com\//);
    expect(new Date(source.on).toISOString().slice(0, 10)).toBe(source.on);
  }
});

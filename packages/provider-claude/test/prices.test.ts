import { expect, test } from 'vitest';
import { claudeModels } from '../src/models.ts';
import { claudePrice, claudePrices, claudePricing } from '../src/prices.ts';

test('prices are undefined for an unknown model, not zero', () => {
  expect(claudePrice('claude-of-tomorrow')).toBeUndefined();
  expect(claudePrice('toString')).toBeUndefined();
  expect(claudePricing('openai', 'claude-opus-5-5')).toBeUndefined();
});

test('cache writes cost 1.25 times as much as input for five minutes, and twice as much for an hour', () => {
  const listed = [claudePrice('fast', 1), claudePrice('fast', 200_000), claudePrice('claude-fable-5-2')];
  expect(listed).toEqual([
    { input: 0.1, output: 0.5, cacheRead: 0.01, cacheWrite: 0.125, cacheWriteLong: 0.2, search: 0.01 },
    { input: 0.5, output: 2.5, cacheRead: 0.05, cacheWrite: 0.625, cacheWriteLong: 1, search: 0.01 },
    { input: 8, output: 40, cacheRead: 0.2, cacheWrite: 10, cacheWriteLong: 16, search: 0.01 },
  ]);
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

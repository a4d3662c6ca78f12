import { expect, test } from 'vitest';
import { modelAliases } from '../src/models.ts';
import { openAIPrice, openAIPrices, openAIPricing } from '../src/prices.ts';

test('returns a price only for known models', () => {
  expect(openAIPricing('openai', 'gpt-6.1-sol', 1000)).toEqual({
    input: 2,
    cacheRead: 0.1,
    cacheWrite: 2.5,
    output: 10,
    search: 0.01,
  });
  expect(openAIPricing('openai', 'gpt-6-sol-2026-09-22')).toEqual(openAIPrice('gpt-6-sol'));
  expect(openAIPricing('somebody-else', 'gpt-6.1-sol')).toBeUndefined();
  expect(openAIPricing('openai', 'gpt-9')).toBeUndefined();
  expect(openAIPricing('openai', 'toString')).toBeUndefined();
});

test('doubles the input price and adds half to the output price above 272,000 input tokens', () => {
  expect(openAIPrice('balanced', 272_000)).toEqual(openAIPrice('balanced', 0));
  expect(openAIPrice('balanced')).toEqual(openAIPrice('balanced', 272_001));
  expect(openAIPrice('balanced', 272_001)).toEqual({
    input: 4,
    cacheRead: 0.2,
    cacheWrite: 5,
    output: 15,
    search: 0.01,
  });
  expect(openAIPrice('gpt-6.2-sol', 272_001)?.cacheWriteLong).toBe(10);
});

test('the table prices every alias and lists each model once, with its source and date', () => {
  const models = openAIPrices.map(({ model }) => model);
  expect(models).toEqual(expect.arrayContaining(Object.values(modelAliases)));
  expect(new Set(models).size).toBe(models.length);
  for (const { price, batch, source } of openAIPrices) {
    const { input, output, cacheRead = 0, cacheWrite, cacheWriteLong = 2.5 * input } = price;
    expect([output, cacheWrite, cacheWriteLong]).toEqual([5 * input, 1.25 * input, 2.5 * input]);
    expect(cacheRead > 0 && cacheRead < input).toBe(true);
    expect(batch).toBe(0.5);
    expect(source.from).toMatch(/^https:\/\/developers\.openai\.com\//);
    expect(new Date(source.on).toISOString().slice(0, 10)).toBe(source.on);
  }
});

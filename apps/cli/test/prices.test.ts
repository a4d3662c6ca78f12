import { describe, expect, test } from 'vitest';
import { pricingFor } from '../src/prices.ts';

const table = (provider: string, model: string) =>
  provider === 'claude' && model === 'in-table' ? { input: 1, output: 2 } : undefined;

describe('prices', () => {
  test('those of the configuration go before the provider’s, those before the general list', async () => {
    const own = { 'in-table': { input: 9, output: 9 } };
    expect(
      (await pricingFor({ own, tables: [table] }, 'claude', 'in-table'))('claude', 'in-table')?.input,
    ).toBe(9);
    expect(
      (await pricingFor({ own: {}, tables: [table] }, 'claude', 'in-table'))('claude', 'in-table')?.input,
    ).toBe(1);
    const general = await pricingFor({ own: {}, tables: [table] }, 'openai', 'gpt-4o-mini');
    expect(general('openai', 'gpt-4o-mini')).toEqual({ input: 0.15, output: 0.6, cacheRead: 0.075 });
  });

  test('a price with tiers is that of the request, and the highest while its length is unknown', async () => {
    const pricing = await pricingFor({ own: {}, tables: [] }, 'claude', 'claude-sonnet-4-5');
    const long = { input: 6, output: 22.5, cacheRead: 0.6, cacheWrite: 7.5 };
    expect(pricing('claude', 'claude-sonnet-4-5')).toEqual(long);
    expect(pricing('claude', 'claude-sonnet-4-5', 300_000)).toEqual(long);
    expect(pricing('claude', 'claude-sonnet-4-5', 200_000)?.input).toBe(3);
  });

  test('an unknown model has no price, which is not the same as free', async () => {
    const sources = { own: {}, tables: [table], baseURL: 'http://localhost:11434/v1' };
    const pricing = await pricingFor(sources, 'openai', 'gpt-4o-mini');
    expect(pricing('openai', 'gpt-4o-mini')).toBeUndefined();
    expect(
      (await pricingFor({ own: {}, tables: [] }, 'claude', 'nobody-knows'))('claude', 'nobody-knows'),
    ).toBeUndefined();
  });
});

import { describe, expect, test } from 'vitest';
import { pricingFor } from '../../src/config/prices.ts';

const table = (provider: string, model: string) =>
  provider === 'claude' && model === 'in-table' ? { input: 1, output: 2 } : undefined;

describe('prices', () => {
  test('come from the configuration, then from the provider table, then from the general list', async () => {
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

  test('depend on the request length, and are the highest if the length is unknown', async () => {
    const pricing = await pricingFor({ own: {}, tables: [] }, 'claude', 'claude-sonnet-4-5');
    // The general list lacks the one-hour cache write price, which is twice the input price.
    const long = { input: 6, output: 22.5, cacheRead: 0.6, cacheWrite: 7.5, cacheWriteLong: 12 };
    expect(pricing('claude', 'claude-sonnet-4-5')).toEqual(long);
    expect(pricing('claude', 'claude-sonnet-4-5', 300_000)).toEqual(long);
    expect(pricing('claude', 'claude-sonnet-4-5', 200_000)?.input).toBe(3);
  });

  test('in the configuration apply by alias and to a dated model name', async () => {
    const aliases = [{ id: 'in-table', alias: 'fast' }, { id: 'other' }];
    const own = { fast: { input: 9, output: 9 }, 'by-id': { input: 8, output: 8 } };
    const priceOf = async (model: string) =>
      (await pricingFor({ own, aliases, tables: [table] }, 'claude', model))('claude', model)?.input;
    const found = ['in-table', 'in-table-2026-10-01', 'by-id-20261001', 'by-id'].map(priceOf);
    expect(await Promise.all(found)).toEqual([9, 9, 8, 8]);
    expect(await priceOf('by-id-2')).toBeUndefined();
  });

  test("in the configuration apply to one provider under the provider's name, which comes first", async () => {
    const own = {
      'claude/m': { input: 1, output: 1 },
      m: { input: 2, output: 2 },
      'openai/n': { input: 3, output: 3 },
    };
    const pricing = await pricingFor({ own, tables: [] }, 'claude', 'm');
    const found = [
      pricing('claude', 'm'),
      pricing('openai', 'm'),
      pricing('openai', 'n'),
      pricing('claude', 'n'),
    ];
    expect(found.map((price) => price?.input)).toEqual([1, 2, 3, undefined]);
  });

  test('in the configuration can depend on the request length', async () => {
    const long = { overInputTokens: 1000, price: { input: 2, output: 2 } };
    const own = { m: { input: 1, output: 1, longPrompt: long } };
    const pricing = await pricingFor({ own, tables: [] }, 'claude', 'm');
    expect(pricing('claude', 'm', 1000)).toEqual({ input: 1, output: 1 });
    expect([pricing('claude', 'm', 1001), pricing('claude', 'm')]).toEqual([long.price, long.price]);
  });

  test('are undefined, not zero, for an unknown model or server', async () => {
    const sources = { own: {}, tables: [table], baseURL: 'http://localhost:11434/v1' };
    const pricing = await pricingFor(sources, 'openai', 'gpt-4o-mini');
    expect(pricing('openai', 'gpt-4o-mini')).toBeUndefined();
    expect(
      (await pricingFor({ own: {}, tables: [] }, 'claude', 'nobody-knows'))('claude', 'nobody-knows'),
    ).toBeUndefined();
  });
});

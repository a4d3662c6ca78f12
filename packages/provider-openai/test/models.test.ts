import type { ChatModel } from 'openai/resources/shared';
import { expect, test } from 'vitest';
import {
  contextTokens,
  modelAliases,
  needsNoEffortForTools,
  promptCache,
  reasons,
  resolveModel,
} from '../src/models.ts';
import { openAIPrices } from '../src/prices.ts';

test('resolves each alias to a model that the SDK lists [S0.28]', () => {
  const listed: readonly ChatModel[] = ['gpt-6-luna', 'gpt-6.1-sol', 'gpt-6-astra'];
  expect(Object.values(modelAliases)).toEqual(listed);
  expect(['fast', 'balanced', 'best'].map(resolveModel)).toEqual(listed);
});

test('keeps any other name, including names of built-in properties', () => {
  expect(['gpt-4.1', 'llama3.3:70b', 'constructor'].map(resolveModel)).toEqual([
    'gpt-4.1',
    'llama3.3:70b',
    'constructor',
  ]);
});

test('charges for cache writes from GPT-5.6 on', () => {
  const billed = ['gpt-5.6-sol', 'gpt-6-luna', 'gpt-6.1-sol-2026-09-29', 'gpt-10', 'openai/gpt-6-sol'];
  expect(billed.map((name) => promptCache(name)?.lifetimes)).toEqual(
    billed.map(() => [{ ms: 1_800_000, write: 1.25 }]),
  );
  expect(['gpt-5.5', 'gpt-5', 'gpt-4.1', 'o3', 'llama3.3', 'gpt-oss-20b'].map(promptCache)).toEqual(
    Array.from({ length: 6 }, () => undefined),
  );
});

test('returns the context window of known models', () => {
  for (const { model } of openAIPrices) expect(contextTokens(model)).toBe(1_050_000);
  expect(contextTokens('gpt-9')).toBeUndefined();
});

test('recognizes reasoning models by their family', () => {
  const yes = [
    'o1',
    'o3-mini',
    'o4-mini',
    'gpt-5',
    'gpt-5-mini',
    'gpt-5.6-sol',
    'gpt-6-luna',
    'gpt-10',
    'openai/gpt-6-sol',
    'codex-mini-latest',
  ];
  const no = [
    'gpt-4.1',
    'gpt-4o',
    'gpt-3.5-turbo',
    'gpt-5-chat-latest',
    'ft:gpt-4.1-mini:acme',
    'llama3.3',
    'gpt-oss-20b',
    'olmo-2',
  ];
  expect(yes.filter((name) => !reasons(name))).toEqual([]);
  expect(no.filter(reasons)).toEqual([]);
});

test('requires effort none for tools over Chat Completions only from GPT-5.1 on', () => {
  expect(['gpt-5.1', 'gpt-5.6-luna', 'gpt-6-sol'].every(needsNoEffortForTools)).toBe(true);
  expect(
    ['gpt-5', 'gpt-5-mini', 'o3', 'gpt-4.1', 'gpt-5.1-chat-latest', 'llama3.3'].some(needsNoEffortForTools),
  ).toBe(false);
});

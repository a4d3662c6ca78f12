import { describe, expect, test } from 'vitest';
import { modelId, thinkingTraits } from '../src/models.ts';

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

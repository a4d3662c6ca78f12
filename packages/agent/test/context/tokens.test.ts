import { describe, expect, it } from 'vitest';
import { isHeavier, prefixTokens, roughTokens, weightOf } from '../../src/context/tokens.ts';
import { emptyState } from '../../src/events/state.ts';
import type { Message } from '../../src/values/message.ts';
import { userMessage } from '../../src/values/message.ts';

const long = userMessage('word '.repeat(3000));

describe('what a conversation weighs', () => {
  it('is what the provider counted and an estimate of what was added since', () => {
    const counted = { ...emptyState(), messages: [long, long], contextTokens: 700, contextMessages: 2 };
    expect(weightOf(counted, 99)).toBe(700);
    const more = { ...counted, messages: [long, long, long] };
    expect(weightOf(more, 99)).toBe(700 + roughTokens(long));
    expect(roughTokens(long)).toBeGreaterThan(3000);
    expect(roughTokens(long)).toBeLessThan(7000);
  });

  it('is instructions, tools and all messages where nothing has been counted', () => {
    const state = { ...emptyState(), messages: [long, long] };
    expect(weightOf(state, 99)).toBe(99 + 2 * roughTokens(long));
    const tool = { name: 't', description: 'A tool.', parameters: { type: 'object' }, execute: () => 1 };
    expect(prefixTokens('Be brief.', [tool])).toBeGreaterThan(prefixTokens('Be brief.', []));
  });

  it('takes pictures and documents for what services charge, not for their bytes', () => {
    const data = 'A'.repeat(1_000_000);
    const picture: Message = { role: 'user', content: [{ type: 'image', mediaType: 'image/png', data }] };
    const pdf: Message = {
      role: 'user',
      content: [{ type: 'document', mediaType: 'application/pdf', data }],
    };
    const plain: Message = { role: 'user', content: [{ type: 'document', mediaType: 'text/plain', data }] };
    expect(roughTokens(picture)).toBeLessThan(5000);
    expect(roughTokens(pdf)).toBeLessThan(roughTokens(plain));
    expect(roughTokens(plain)).toBe(250_000);
  });
});

describe('isHeavier', () => {
  it('weighs nothing where there is no bound', () => {
    const messages = new Proxy<Message[]>([], {
      get() {
        throw new Error('looked at');
      },
    });
    expect(isHeavier({ ...emptyState(), messages }, Number.POSITIVE_INFINITY, 0)).toBe(false);
  });

  it('is a question of more, not of as many', () => {
    const state = { ...emptyState(), contextTokens: 100 };
    expect([isHeavier(state, 100, 0), isHeavier(state, 99, 0)]).toEqual([false, true]);
  });
});

import { describe, expect, it } from 'vitest';
import { estimateTokens, exceedsTokens, prefixTokens, roughTextTokens } from '../../src/context/tokens.ts';
import { emptyState } from '../../src/events/state.ts';
import type { Message } from '../../src/values/message.ts';
import { userMessage } from '../../src/values/message.ts';

const long = userMessage('word '.repeat(3000));

describe('the estimated size of a conversation', () => {
  it("is the provider's count plus an estimate of the messages added since", () => {
    const counted = { ...emptyState(), messages: [long, long], contextTokens: 700, contextMessages: 2 };
    expect(estimateTokens(counted, 99)).toBe(700);
    const more = { ...counted, messages: [long, long, long] };
    expect(estimateTokens(more, 99)).toBe(700 + roughTextTokens(long));
    expect(roughTextTokens(long)).toBeGreaterThan(3000);
    expect(roughTextTokens(long)).toBeLessThan(7000);
  });

  it('covers instructions, tools and all messages if nothing has been counted', () => {
    const state = { ...emptyState(), messages: [long, long] };
    expect(estimateTokens(state, 99)).toBe(99 + 2 * roughTextTokens(long));
    const tool = { name: 't', description: 'A tool.', parameters: { type: 'object' }, execute: () => 1 };
    expect(prefixTokens('Be brief.', [tool])).toBeGreaterThan(prefixTokens('Be brief.', []));
  });

  it('counts images and documents as services do, not by their bytes', () => {
    const data = 'A'.repeat(1_000_000);
    const picture: Message = { role: 'user', content: [{ type: 'file', mediaType: 'image/png', data }] };
    const pdf: Message = {
      role: 'user',
      content: [{ type: 'file', mediaType: 'application/pdf', data }],
    };
    const plain: Message = { role: 'user', content: [{ type: 'file', mediaType: 'text/plain', data }] };
    expect(roughTextTokens(picture)).toBeLessThan(5000);
    expect(roughTextTokens(pdf)).toBeLessThan(roughTextTokens(plain));
    expect(roughTextTokens(plain)).toBe(250_000);
  });
});

describe('exceedsTokens', () => {
  it('estimates nothing without a limit', () => {
    const messages = new Proxy<Message[]>([], {
      get() {
        throw new Error('The messages must not be read.');
      },
    });
    expect(exceedsTokens({ ...emptyState(), messages }, Number.POSITIVE_INFINITY, 0)).toBe(false);
  });

  it('is true above the limit, not at the limit', () => {
    const state = { ...emptyState(), contextTokens: 100 };
    expect([exceedsTokens(state, 100, 0), exceedsTokens(state, 99, 0)]).toEqual([false, true]);
  });
});

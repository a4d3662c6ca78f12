import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { repairMessages } from '../../src/events/repair-messages.ts';
import { outline } from '../../src/testing/conversation.ts';
import { assertValidHistory } from '../../src/testing/valid-history.ts';
import type { Message } from '../../src/values/message.ts';
import { userMessage } from '../../src/values/message.ts';
import { message } from '../support/fold-story.ts';

const calls = (...ids: string[]): Message => ({
  role: 'assistant',
  content: ids.map((id) => ({ type: 'tool_call', id, toolName: 'look', arguments: {} })),
});
const result = (toolCallId: string, text = `saw ${toolCallId}`): Message => ({
  role: 'tool_result',
  toolCallId,
  content: [{ type: 'text', text }],
});
const says = (text: string): Message => ({ role: 'assistant', content: [{ type: 'text', text }] });
const go = userMessage('Go.');

function mended(...messages: Message[]): { outline: string[]; told: string[] } {
  const { messages: after, problems } = repairMessages(messages);
  assertValidHistory(after);
  return { outline: outline(after), told: problems.map(({ at, what }) => `${at} ${what}`) };
}

describe('repairMessages', () => {
  it('makes any conversation valid, and finds no problem in its own output [P12]', () => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 12 }), (messages) => {
        const once = repairMessages(messages);
        assertValidHistory(once.messages);
        expect(repairMessages(once.messages)).toEqual({ messages: once.messages, problems: [] });
      }),
      { numRuns: 500, seed: 20_261_121 },
    );
  });

  it('leaves a conversation without problems unchanged, except for the order of results', () => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 6 }), (messages) => {
        const { problems, messages: after } = repairMessages(messages);
        if (problems.length > 0) return;
        assertValidHistory(after);
        expect(after).toHaveLength(messages.length);
        for (const each of messages) expect(after).toContainEqual(each);
      }),
      { numRuns: 500, seed: 20_261_121 },
    );
  });

  it('adds a result to a call without one, and reports it [P12]', () => {
    const { outline: after, told } = mended(go, calls('a', 'b'), result('a'), userMessage('Well?'));
    expect(told).toEqual(['1 contains a call to look ("b") without a result']);
    expect(after[2]).toBe('tool_result: saw a');
    expect(after[3]).toMatch(/^tool_result: This call was not run/);
  });

  it('moves a late result so that it follows its call', () => {
    const { outline: after, told } = mended(go, calls('a'), userMessage('Well?'), says('Hm.'), result('a'));
    expect(told).toEqual(['4 is the result of the call "a", but is not directly after it']);
    expect(after).toEqual([
      'user: Go.',
      'assistant: ',
      'tool_result: saw a',
      'user: Well?',
      'assistant: Hm.',
    ]);
  });

  it('removes a result without an open call, and a repeated result', () => {
    const { outline: after, told } = mended(result('x'), go, calls('a'), result('a'), result('a', 'again'));
    expect(told).toEqual([
      '0 is a result of the call "x", which is not open',
      '4 is a result of the call "a", which is not open',
    ]);
    expect(after).toEqual(['user: Go.', 'assistant: ', 'tool_result: saw a']);
  });

  it('puts results in the order of their calls, which is not a problem [P12]', () => {
    const { outline: after, told } = mended(go, calls('a', 'b'), result('b'), result('a'));
    expect(told).toEqual([]);
    expect(after.slice(2)).toEqual(['tool_result: saw a', 'tool_result: saw b']);
  });

  it('assigns a repeated id to the nearest response with an open call [P12]', () => {
    const { outline: after } = mended(go, calls('a'), userMessage('No.'), calls('a'), result('a', 'second'));
    expect(after[2]).toMatch(/not run/);
    expect(after.at(-1)).toBe('tool_result: second');
  });

  it('reports empty texts, empty messages, lone surrogates and unusable arguments', () => {
    const odd = { ...calls('a').content[0], arguments: ['x'] } as never;
    const { told } = mended(
      { role: 'user', content: [] },
      {
        role: 'user',
        content: [
          { type: 'text', text: '' },
          { type: 'text', text: 'Go.' },
        ],
      },
      userMessage('half \ud83d'),
      { role: 'assistant', content: [odd] },
      result('a'),
    );
    expect(told).toEqual([
      '0 is empty',
      '1 contains empty text',
      '2 contains a lone surrogate',
      '3 contains a call with unusable arguments',
    ]);
  });
});

import { describe, expect, it } from 'vitest';
import { inputBound } from '../../src/context/context.ts';
import { emptyState } from '../../src/events/state.ts';
import type { Message } from '../../src/values/message.ts';
import { userMessage } from '../../src/values/message.ts';

const call = { type: 'tool_call', id: 'a', toolName: 't', arguments: {} } as const;
const messages: readonly Message[] = [
  userMessage('Go.'),
  { role: 'assistant', content: [call, { ...call, id: 'b' }] },
  { role: 'tool_result', toolCallId: 'a', content: [{ type: 'text', text: '1' }] },
  { role: 'tool_result', toolCallId: 'b', content: [{ type: 'text', text: '2' }] },
  { role: 'assistant', content: [{ type: 'text', text: 'Done.' }] },
];

describe('inputBound', () => {
  const tool = { name: 't', description: 'A tool.', parameters: { type: 'object' }, execute: () => 1 };
  const bytes = (value: unknown) => new TextEncoder().encode(JSON.stringify(value)).length;

  it('counts messages, instructions and tools if nothing has been counted yet', () => {
    const state = { ...emptyState(), messages: [...messages] };
    const bare = inputBound(state, { tools: [] });
    expect(bare).toBeGreaterThanOrEqual(Math.floor(messages.reduce((sum, each) => sum + bytes(each), 0) / 2));
    expect(inputBound(state, { tools: [tool], system: 'Be brief.' })).toBeGreaterThan(bare + 20);
  });

  it('counts bytes, not characters: text in other scripts costs more [B1]', () => {
    const bound = (text: string) =>
      inputBound({ ...emptyState(), messages: [userMessage(text)] }, { tools: [] });
    expect(bound('漢'.repeat(1000))).toBeGreaterThanOrEqual(1500);
    expect(bound('x'.repeat(1000))).toBeLessThan(600);
  });

  it("uses the provider's count for the messages that it covers", () => {
    const counted = { messages: [...messages], contextTokens: 5000, contextMessages: 5, turns: 2 };
    const state = { ...emptyState(), ...counted };
    const bound = inputBound(state, { tools: [tool], system: 'x'.repeat(9000) });
    // A response can count as slightly more tokens in the input than it did as output.
    expect(bound).toBeGreaterThanOrEqual(5000);
    expect(bound).toBeLessThan(5050);
    const more = { ...state, messages: [...messages, userMessage('x'.repeat(2000))] };
    expect(inputBound(more, { tools: [tool] })).toBeGreaterThan(6000);
  });

  it('counts instructions and tools again in a new run, because they may have changed [B1]', () => {
    const counted = { messages: [...messages], contextTokens: 5000, contextMessages: 5 };
    const bound = (turns: number) =>
      inputBound({ ...counted, turns }, { tools: [], system: 'x'.repeat(9000) });
    expect(bound(0)).toBeGreaterThanOrEqual(bound(1) + 4500);
  });
});

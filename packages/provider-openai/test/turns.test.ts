import type { Seal, Turn } from '@cobbler/agent/provider';
import { describe, expect, test } from 'vitest';
import { chatTurn } from '../src/chat/turn.ts';
import { responsesTurn } from '../src/responses/turn.ts';

const image = { type: 'file', mediaType: 'image/png', data: 'iVBORw0KGgo=' } as const;
const pdf = { type: 'file', mediaType: 'application/pdf', data: 'JVBERi0=' } as const;

function sealed(data: Seal['data']): Seal {
  return { provider: 'openai', data };
}

const thought = {
  id: 'rs_1',
  type: 'reasoning',
  summary: [],
  encrypted_content: 'gAAAAA==',
  novel: [1, { b: 2, a: 1 }],
};

const results: Turn = {
  side: 'user',
  parts: [
    {
      type: 'tool_result',
      callId: 'a',
      toolName: 'draw',
      content: [{ type: 'text', text: 'Drawn:' }, image],
      isError: false,
    },
    { type: 'tool_result', callId: 'b', toolName: 'scan', content: [pdf], isError: false },
    {
      type: 'tool_result',
      callId: 'c',
      toolName: 'say',
      content: [{ type: 'text', text: 'Said.' }],
      isError: false,
    },
    { type: 'text', text: 'Go on.' },
  ],
};

describe('Responses', () => {
  test('sends sealed items back unchanged, in their position [S0.16]', () => {
    const turn: Turn = {
      side: 'assistant',
      parts: [
        { type: 'reasoning', text: 'shown', seal: sealed(thought) },
        { type: 'opaque', seal: sealed({ type: 'message', id: 'msg_1', phase: 'commentary' }) },
        { type: 'text', text: 'I look.' },
        {
          type: 'tool_call',
          id: 'call_1',
          toolName: 'one',
          arguments: { n: 1 },
          seal: sealed({ id: 'fc_1' }),
        },
        { type: 'opaque', seal: sealed({ id: 'cmp_1', type: 'compaction' }) },
      ],
    };
    const items = responsesTurn(turn, true);
    expect(JSON.stringify(items[0])).toBe(JSON.stringify(thought));
    expect(items.slice(1)).toEqual([
      {
        type: 'message',
        id: 'msg_1',
        phase: 'commentary',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: 'I look.', annotations: [] }],
      },
      { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'one', arguments: '{"n":1}' },
      { id: 'cmp_1', type: 'compaction' },
    ]);
  });

  test('sends content from another provider without ids', () => {
    const turn: Turn = {
      side: 'assistant',
      parts: [
        { type: 'text', text: 'Hello.' },
        { type: 'tool_call', id: 'call_1', toolName: 'one', arguments: {} },
      ],
    };
    expect(responsesTurn(turn, true)).toEqual([
      { type: 'message', role: 'assistant', content: 'Hello.' },
      { type: 'function_call', call_id: 'call_1', name: 'one', arguments: '{}' },
    ]);
  });

  test('sends reasoning back only before its item, because the service rejects it alone [P12]', () => {
    const reasoning = { type: 'reasoning', text: '', seal: sealed(thought) } as const;
    const head = { type: 'opaque', seal: sealed({ type: 'message', id: 'msg_1' }) } as const;
    const text = { type: 'text', text: 'Hello.' } as const;
    const plain = { type: 'message', role: 'assistant', content: 'Hello.' };
    const kept = (parts: Extract<Turn, { side: 'assistant' }>['parts']) =>
      responsesTurn({ side: 'assistant', parts }, true);
    expect(kept([text, reasoning])).toEqual([plain]);
    expect(kept([text, reasoning, head])).toEqual([plain]);
    expect(kept([reasoning, text])).toEqual([plain]);
    expect(kept([reasoning, reasoning, head, text])).toEqual([
      thought,
      thought,
      expect.objectContaining({ id: 'msg_1', role: 'assistant' }),
    ]);
  });

  test('sends ids back only after reasoning that is sent back [P12]', () => {
    const parts = [
      { type: 'opaque', seal: sealed({ type: 'message', id: 'msg_1', phase: 'final_answer' }) },
      { type: 'text', text: 'Hello.' },
      { type: 'tool_call', id: 'call_1', toolName: 'one', arguments: {}, seal: sealed({ id: 'fc_1' }) },
    ] as const;
    expect(responsesTurn({ side: 'assistant', parts }, true)).toEqual([
      { type: 'message', role: 'assistant', content: 'Hello.', phase: 'final_answer' },
      { type: 'function_call', call_id: 'call_1', name: 'one', arguments: '{}' },
    ]);
  });

  test('omits reasoning and the data tied to it for a model that does not reason', () => {
    const parts = [
      { type: 'reasoning', text: 'shown', seal: sealed(thought) },
      { type: 'opaque', seal: sealed({ type: 'message', id: 'msg_1', phase: 'commentary' }) },
      { type: 'text', text: 'I look.' },
      { type: 'tool_call', id: 'call_1', toolName: 'one', arguments: {}, seal: sealed({ id: 'fc_1' }) },
    ] as const;
    expect(responsesTurn({ side: 'assistant', parts }, false)).toEqual([
      { type: 'message', role: 'assistant', content: 'I look.' },
      { type: 'function_call', call_id: 'call_1', name: 'one', arguments: '{}' },
    ]);
  });

  test('sends results with images and files as lists, and text results as strings', () => {
    expect(responsesTurn(results, true)).toEqual([
      {
        type: 'function_call_output',
        call_id: 'a',
        output: [
          { type: 'input_text', text: 'Drawn:' },
          { type: 'input_image', image_url: 'data:image/png;base64,iVBORw0KGgo=', detail: 'auto' },
        ],
      },
      {
        type: 'function_call_output',
        call_id: 'b',
        output: [
          { type: 'input_file', filename: 'document.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' },
        ],
      },
      { type: 'function_call_output', call_id: 'c', output: 'Said.' },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Go on.' }] },
    ]);
  });
});

describe('Chat Completions', () => {
  test('sends images and files of results after the tool messages and before the user text', () => {
    expect(chatTurn(results)).toEqual([
      { role: 'tool', tool_call_id: 'a', content: 'Drawn:' },
      { role: 'tool', tool_call_id: 'b', content: 'The result is attached to the next message.' },
      { role: 'tool', tool_call_id: 'c', content: 'Said.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Attached by the tool draw (call a):' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
          { type: 'text', text: 'Attached by the tool scan (call b):' },
          {
            type: 'file',
            file: { filename: 'document.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' },
          },
          { type: 'text', text: 'Go on.' },
        ],
      },
    ]);
  });

  test('sends plain user text as a string, which every server supports', () => {
    expect(chatTurn({ side: 'user', parts: [{ type: 'text', text: 'Hi.' }] })).toEqual([
      { role: 'user', content: 'Hi.' },
    ]);
  });

  test('omits reasoning, keeps calls, and sends null content if there is no text', () => {
    const turn: Turn = {
      side: 'assistant',
      parts: [
        { type: 'reasoning', text: 'Hm.', seal: sealed(thought) },
        { type: 'tool_call', id: 'call_1', toolName: 'one', arguments: { n: 1 } },
      ],
    };
    expect(chatTurn(turn)).toEqual([
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'one', arguments: '{"n":1}' } }],
      },
    ]);
  });
});

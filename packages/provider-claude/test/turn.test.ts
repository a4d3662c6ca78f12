import type { AssistantPart } from '@cobbler/agent';
import type { Turn } from '@cobbler/agent/provider';
import { describe, expect, test } from 'vitest';
import { claudeWire } from '../src/create-claude.ts';
import { claudeCache } from '../src/envelope.ts';
import { writeTurn } from '../src/turn.ts';

const pixel = 'iVBORw0KGgo=';

function contentOf(turn: Turn): unknown {
  const [message] = writeTurn(turn) as { role: string; content: unknown }[];
  expect(message?.role).toBe(turn.side);
  return message?.content;
}

describe('a user turn', () => {
  test('names the call of each result, marks errors and includes images [S0.18]', () => {
    const content = contentOf({
      side: 'user',
      parts: [
        {
          type: 'tool_result',
          callId: 'toolu_1',
          toolName: 'shot',
          isError: false,
          content: [
            { type: 'text', text: 'taken' },
            { type: 'file', mediaType: 'image/png', data: pixel },
          ],
        },
        { type: 'tool_result', callId: 'toolu_2', toolName: 'put', isError: true, content: [] },
        { type: 'text', text: 'And now?' },
      ],
    });
    expect(content).toEqual([
      {
        type: 'tool_result',
        tool_use_id: 'toolu_1',
        content: [
          { type: 'text', text: 'taken' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: pixel } },
        ],
      },
      { type: 'tool_result', tool_use_id: 'toolu_2', is_error: true },
      { type: 'text', text: 'And now?' },
    ]);
  });

  test('sends a PDF unchanged with its name, and a text file as text', () => {
    const content = contentOf({
      side: 'user',
      parts: [
        { type: 'file', mediaType: 'application/pdf', data: 'JVBERi0=', name: 'bill.pdf' },
        { type: 'file', mediaType: 'text/csv', data: 'w6QsYg==' },
      ],
    });
    expect(content).toEqual([
      {
        type: 'document',
        source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' },
        title: 'bill.pdf',
      },
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'ä,b' } },
    ]);
  });

  test('throws for a document that Claude cannot read, before a request is sent', () => {
    const parts = [{ type: 'file', mediaType: 'application/zip', data: '' }] as const;
    expect(() => writeTurn({ side: 'user', parts })).toThrow(/PDF or text, not as application\/zip/);
  });
});

describe('an assistant turn', () => {
  test('sends back thinking with its signature, redacted thinking unchanged, and calls with arguments [S0.18]', () => {
    const redacted = { type: 'redacted_thinking', data: 'EmwKAhgB' };
    const content = contentOf({
      side: 'assistant',
      parts: [
        { type: 'reasoning', text: 'Hm. ', seal: { provider: 'claude', data: { signature: 'Eq==' } } },
        { type: 'opaque', seal: { provider: 'claude', data: redacted } },
        { type: 'reasoning', text: '', seal: { provider: 'claude', data: { signature: 'only' } } },
        { type: 'text', text: 'Let me see.' },
        { type: 'tool_call', id: 'toolu_1', toolName: 'look_up', arguments: { word: 'cobbler' } },
      ],
    });
    expect(content).toEqual([
      { type: 'thinking', thinking: 'Hm. ', signature: 'Eq==' },
      redacted,
      { type: 'thinking', thinking: '', signature: 'only' },
      { type: 'text', text: 'Let me see.' },
      { type: 'tool_use', id: 'toolu_1', name: 'look_up', input: { word: 'cobbler' } },
    ]);
  });

  test('omits a seal of an unknown shape, such as one of an older version', () => {
    const parts: AssistantPart[] = [
      { type: 'reasoning', text: 'x', seal: { provider: 'claude', data: 'v0' } },
      { type: 'opaque', seal: { provider: 'claude', data: ['v0'] } },
      { type: 'text', text: 'Yes.' },
    ];
    expect(contentOf({ side: 'assistant', parts })).toEqual([{ type: 'text', text: 'Yes.' }]);
    // A message must not be empty.
    expect(contentOf({ side: 'assistant', parts: parts.slice(0, 2) })).toEqual([
      { type: 'text', text: '(blank)' },
    ]);
  });
});

test('puts a cache mark into the last block of a user turn, whatever its type', () => {
  const { cache } = claudeWire({ endpoint: { url: '', headers: {} }, thinking: 'unset' });
  const { lifetimes, markBack = 0 } = cache ?? claudeCache;
  const turns: Turn[] = [
    { side: 'user', parts: [{ type: 'text', text: 'ends with }]}' }] },
    { side: 'user', parts: [{ type: 'file', mediaType: 'image/png', data: pixel }] },
    { side: 'user', parts: [{ type: 'file', mediaType: 'application/pdf', data: '', name: '"}' }] },
    {
      side: 'user',
      parts: [{ type: 'tool_result', callId: 'a', toolName: 'b', isError: false, content: [] }],
    },
    {
      side: 'user',
      parts: [
        {
          type: 'tool_result',
          callId: 'a',
          toolName: 'b',
          isError: true,
          content: [{ type: 'text', text: 'c' }],
        },
      ],
    },
  ];
  const marks = [{ type: 'ephemeral' }, { type: 'ephemeral', ttl: '1h' }];
  expect(cache).toBe(claudeCache);
  for (const turn of turns) {
    const bytes = writeTurn(turn)
      .map((item) => JSON.stringify(item))
      .join(',');
    const at = bytes.length - markBack;
    const found = lifetimes.map(({ mark }) => {
      const marked = JSON.parse(`${bytes.slice(0, at)}${mark}${bytes.slice(at)}`) as { content: object[] };
      const last = marked.content.at(-1) ?? {};
      return 'cache_control' in last && last.cache_control;
    });
    expect(found).toEqual(marks);
  }
});

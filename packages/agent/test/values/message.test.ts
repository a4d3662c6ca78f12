import { describe, expect, it } from 'vitest';
import type { FlatMessage, Message } from '../../src/values/message.ts';
import { callsOf, fromFlat, textOf, toFlat, userMessage } from '../../src/values/message.ts';
import { wellFormedAnswer, wellFormedJson, wellFormedParts } from '../../src/values/unicode.ts';

const flat: FlatMessage[] = [
  { role: 'user', content: 'Read a.' },
  {
    role: 'assistant',
    content: 'At once.',
    toolCalls: [{ id: 'x', toolName: 'read', arguments: { path: 'a' } }],
  },
  { role: 'tool_result', content: 'A', toolCallId: 'x' },
  { role: 'assistant', content: 'It says A.' },
];

describe('messages', () => {
  it('convert to the flat form of the specification and back [S0.17]', () => {
    expect(toFlat(fromFlat(flat))).toEqual(flat);
  });

  it('with an empty text have no part, and convert back to an empty text [S0.17]', () => {
    const [message] = fromFlat([{ role: 'assistant', content: '' }]);
    expect(message?.content).toEqual([]);
    expect(toFlat(message === undefined ? [] : [message])).toEqual([{ role: 'assistant', content: '' }]);
  });

  it('have no images and reasoning in the flat form [S0.17]', () => {
    const messages: Message[] = [
      {
        role: 'user',
        content: [
          { type: 'file', mediaType: 'image/png', data: 'AA==' },
          { type: 'text', text: 'What is it?' },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'Hm.' },
          { type: 'text', text: 'A cat.' },
        ],
      },
    ];
    expect(toFlat(messages)).toEqual([
      { role: 'user', content: 'What is it?' },
      { role: 'assistant', content: 'A cat.' },
    ]);
  });

  it('textOf joins only the text parts, and callsOf keeps the order of the calls', () => {
    const message = {
      role: 'assistant',
      content: [
        { type: 'text', text: 'a' },
        { type: 'tool_call', id: '1', toolName: 'b', arguments: {} },
        { type: 'text', text: 'c' },
        { type: 'tool_call', id: '0', toolName: 'd', arguments: {} },
      ],
    } as const;
    expect(textOf(message)).toBe('ac');
    expect(callsOf(message).map(({ id }) => id)).toEqual(['1', '0']);
    expect(userMessage('Hi')).toEqual({ role: 'user', content: [{ type: 'text', text: 'Hi' }] });
  });
});

describe('making content well-formed', () => {
  const half = '\ud83d';
  const good = [{ type: 'text', text: 'fine 🧵' }] as const;

  it('returns the same array if nothing changes [P12]', () => {
    expect(wellFormedParts(good)).toBe(good);
    const answer = [
      ...good,
      { type: 'tool_call', id: 'a', toolName: 'b', arguments: { deep: [{ c: 'd' }] } },
    ] as const;
    expect(wellFormedAnswer(answer)).toBe(answer);
    expect(wellFormedAnswer(answer)[1]).toBe(answer[1]);
  });

  it('removes empty texts and replaces each lone surrogate [P12]', () => {
    expect(
      wellFormedParts([
        { type: 'text', text: '' },
        { type: 'text', text: `a${half}b` },
      ]),
    ).toEqual([{ type: 'text', text: 'a\ufffdb' }]);
  });

  it('includes arguments, keys, ids and names [P12]', () => {
    const broken = {
      type: 'tool_call',
      id: half,
      toolName: half,
      arguments: { [half]: [{ a: half }] },
    } as const;
    expect(JSON.stringify(wellFormedAnswer([{ ...broken, problem: half }]))).not.toMatch(/\\ud8/);
    expect(wellFormedParts([{ type: 'file', mediaType: 'text/plain', data: 'AA==', name: half }])).toEqual([
      { type: 'file', mediaType: 'text/plain', data: 'AA==', name: '\ufffd' },
    ]);
  });

  it('keeps parts with provider metadata byte for byte', () => {
    const sealed = { type: 'reasoning', text: half, seal: { provider: 'p', data: half } } as const;
    expect(wellFormedAnswer([sealed])[0]).toBe(sealed);
    const call = { type: 'tool_call', id: half, toolName: 'b', arguments: {}, seal: sealed.seal } as const;
    expect(wellFormedAnswer([call])[0]).toMatchObject({ id: '\ufffd', seal: sealed.seal });
  });

  it('marks arguments that are not an object as a problem, and never overflows the stack [P11]', () => {
    const wrong = {
      type: 'tool_call',
      id: 'a',
      toolName: 'b',
      arguments: null as unknown as Record<string, unknown>,
    } as const;
    expect(wellFormedAnswer([wrong])).toMatchObject([
      { arguments: {}, problem: expect.stringContaining('object') },
    ]);
    let deep: unknown = half;
    for (let level = 0; level < 100_000; level += 1) deep = [deep];
    expect(() => wellFormedJson(deep)).not.toThrow();
    const wide = {
      type: 'tool_call',
      id: 'a',
      toolName: 'b',
      arguments: { wide: Array.from({ length: 350_000 }, () => []) },
    } as const;
    expect(wellFormedAnswer([wide])[0]).toBe(wide);
    const call = { type: 'tool_call', id: 'a', toolName: 'b', arguments: { deep } } as const;
    expect(wellFormedAnswer([call])).toMatchObject([
      { arguments: {}, problem: expect.stringContaining('too deeply') },
    ]);
  });
});

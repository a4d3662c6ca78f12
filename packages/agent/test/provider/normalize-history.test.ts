import { describe, expect, test } from 'vitest';
import type { ViewFor } from '../../src/provider/request/normalize-history.ts';
import { normalizeHistory } from '../../src/provider/request/normalize-history.ts';
import type { AssistantPart, Message, ToolCallPart, ToolResultMessage } from '../../src/values/message.ts';
import { userMessage } from '../../src/values/message.ts';

const plain: ViewFor = { provider: 'plain', files: ['*/*'] };

const said = (...content: AssistantPart[]): Message => ({ role: 'assistant', content });
const text = (value: string): AssistantPart & { type: 'text' } => ({ type: 'text', text: value });
const call = (id: string, rest: Partial<ToolCallPart> = {}): ToolCallPart => ({
  type: 'tool_call',
  id,
  toolName: 'look',
  arguments: { id },
  ...rest,
});
const result = (toolCallId: string, output = 'ok'): ToolResultMessage => ({
  role: 'tool_result',
  toolCallId,
  content: [{ type: 'text', text: output }],
});

const view = (messages: readonly Message[], forWhom = plain) => normalizeHistory(messages, forWhom);

/** Returns sides and texts, which are enough to compare conversations. */
function shape(messages: readonly Message[]): string[] {
  return view(messages).map(({ side, parts }) => {
    const words = parts.map((part) => {
      if (part.type === 'text') return part.text;
      if (part.type === 'tool_result')
        return `${part.callId}=${part.content.map((item) => (item.type === 'text' ? item.text : '?')).join('')}`;
      return part.type === 'tool_call' ? `${part.id}()` : part.type;
    });
    return `${side}: ${words.join(' | ')}`;
  });
}

describe('turns', () => {
  test('alternate between user and assistant: adjacent messages of one side are merged', () => {
    const messages = [userMessage('a'), userMessage('b'), said(text('c')), said(text('d')), userMessage('e')];
    expect(shape(messages)).toEqual(['user: a | b', 'assistant: c | d', 'user: e']);
  });

  test('start with the user, even if the conversation starts with the assistant', () => {
    expect(shape([said(text('Hello')), userMessage('Hi')])).toEqual([
      'user: (continued)',
      'assistant: Hello',
      'user: Hi',
    ]);
  });

  test('contain no empty or blank texts, and are never empty [P12]', () => {
    const messages = [userMessage(''), said(text(''), text(' \n')), userMessage([text('  '), text('x')])];
    expect(shape(messages)).toEqual(['user: (empty)', 'assistant: (no answer)', 'user: x']);
  });

  test('contain a note for a result without content [P12]', () => {
    const empty: ToolResultMessage = { role: 'tool_result', toolCallId: 'a', content: [] };
    expect(shape([userMessage('x'), said(call('a')), empty])[2]).toBe('user: a=(no output)');
  });

  test('contain results first, in the order of the calls [S0.16]', () => {
    const messages = [
      userMessage('x'),
      said(call('a'), call('b')),
      userMessage('wait'),
      result('b', '2'),
      result('a', '1'),
    ];
    expect(shape(messages)[2]).toBe('user: a=1 | b=2 | wait');
  });

  test('keep the error flag of a failed result and name its tool', () => {
    const failed: ToolResultMessage = { ...result('a', 'no'), isError: true };
    expect(view([userMessage('x'), said(call('a')), failed])[2]?.parts).toEqual([
      { type: 'tool_result', callId: 'a', toolName: 'look', content: [text('no')], isError: true },
    ]);
  });

  test('contain a replacement for each lone surrogate [P12]', () => {
    const half = 'a\ud800';
    const messages = [
      userMessage(half),
      said(text(half), call('a', { arguments: { [half]: [half] } })),
      result('a', half),
    ];
    const turns = view(messages);
    expect(JSON.stringify(turns)).not.toMatch(/\\ud8/);
    expect(turns[1]?.parts[1]).toMatchObject({ arguments: { 'a\ufffd': ['a\ufffd'] } });
  });

  test('contain the same object for a part that needs no repair', () => {
    const part = text('fine');
    const [turn] = view([userMessage([part])]);
    expect(turn?.parts[0]).toBe(part);
  });
});

describe('provider metadata', () => {
  const own = { provider: 'plain', data: 'mine' };
  const foreign = { provider: 'other', data: 'theirs' };

  test('of this provider is required to send reasoning and opaque parts', () => {
    const messages = [
      userMessage('x'),
      said(
        { type: 'reasoning', text: 'no seal' },
        { type: 'reasoning', text: 'foreign', seal: foreign },
        { type: 'reasoning', text: 'own', seal: own },
        { type: 'opaque', seal: foreign },
        { type: 'opaque', seal: own },
        text('Hello'),
      ),
    ];
    expect(view(messages)[1]?.parts).toEqual([
      { type: 'reasoning', text: 'own', seal: own },
      { type: 'opaque', seal: own },
      text('Hello'),
    ]);
  });

  test('of this provider is kept in calls, and that of others is removed', () => {
    const messages = [
      userMessage('x'),
      said(call('a', { seal: own }), call('b', { seal: foreign })),
      result('a'),
      result('b'),
    ];
    const parts = view(messages)[1]?.parts;
    expect(parts?.[0]).toHaveProperty('seal', own);
    expect(parts?.[1]).not.toHaveProperty('seal');
  });

  test('a response that ends with reasoning gets a placeholder text', () => {
    const messages = [userMessage('x'), said({ type: 'reasoning', text: 'hm', seal: own }), userMessage('y')];
    expect(shape(messages)[1]).toBe('assistant: reasoning | (no answer)');
  });
});

describe('calls', () => {
  test('with a problem are sent without their arguments [P9]', () => {
    const messages = [userMessage('x'), said(call('a', { problem: 'cut' })), result('a')];
    expect(view(messages)[1]?.parts).toEqual([
      { type: 'tool_call', id: 'a', toolName: 'look', arguments: {} },
    ]);
  });

  test('get valid and unique ids, and results match them by position', () => {
    const messages = [
      userMessage('x'),
      said(call('a.b'), call('a.b'), call('')),
      result('a.b', '1'),
      result('', '3'),
      result('a.b', '2'),
      said(call('a_b')),
      result('a_b', '4'),
      said(call('x'.repeat(80))),
      result('x'.repeat(80), '5'),
    ];
    const turns = shape(messages);
    expect(turns[1]).toBe('assistant: a_b() | a_b_2() | call()');
    expect(turns[2]).toBe('user: a_b=1 | a_b_2=2 | call=3');
    expect(turns[3]).toBe('assistant: a_b_3()');
    expect(turns[4]).toBe('user: a_b_3=4');
    expect(turns[6]).toBe(`user: ${'x'.repeat(64)}=5`);
  });

  test('with a thousand equal ids get unique ids, quickly and deterministically', () => {
    const messages: Message[] = [userMessage('x')];
    for (let turn = 0; turn < 1000; turn += 1)
      messages.push(said(call('same')), result('same', String(turn)));
    expect(shape(messages).at(-1)).toBe('user: same_1000=999');
    expect(view(messages)).toEqual(view(structuredClone(messages)));
  });

  test('get a tool name that every service accepts', () => {
    const messages = [userMessage('x'), said(call('a', { toolName: 'rm -rf /' })), result('a')];
    expect(view(messages)[1]?.parts[0]).toMatchObject({ toolName: 'rm_-rf__' });
  });

  test.each([
    ['a result without a call', [userMessage('x'), result('lost')], /"lost"/],
    [
      'a result for an earlier turn',
      [userMessage('x'), said(call('a')), result('a'), said(text('y')), result('a')],
      /"a"/,
    ],
    ['two results for one call', [userMessage('x'), said(call('a')), result('a'), result('a')], /"a"/],
    ['a call without a result', [userMessage('x'), said(call('a'), call('b')), result('a')], /"b"/],
    ['a call followed by a user message', [userMessage('x'), said(call('a')), userMessage('y')], /"a"/],
    ['a call at the end', [userMessage('x'), said(call('a'))], /"a"/],
  ])('%s is rejected as invalid, and the error names the id', (_name, messages, id) => {
    expect(() => view(messages)).toThrow(id);
    expect(() => view(messages)).toThrow(expect.objectContaining({ kind: 'invalid' }));
  });
});

describe('files', () => {
  const image = { type: 'file', mediaType: 'image/png', data: 'aGk=' } as const;
  const pdf = { type: 'file', mediaType: 'application/pdf', data: 'aGk=' } as const;

  test('are sent to a model that accepts them', () => {
    expect(view([userMessage([image, pdf])])[0]?.parts).toEqual([image, pdf]);
  });

  test('are rejected if they are invalid or the model does not accept them', () => {
    expect(() => view([userMessage([image])], { ...plain, files: [] })).toThrow(/does not accept files/);
    expect(() => view([userMessage([pdf])], { ...plain, files: [] })).toThrow(/does not accept files/);
    const refuses = () => 'images of squares';
    expect(() => view([userMessage([image])], { ...plain, refuses })).toThrow(
      /does not accept images of squares/,
    );
    expect(() => view([userMessage([{ ...image, mediaType: 'png' }])])).toThrow(/media type/);
    expect(() => view([userMessage([{ ...image, data: 'a b' }])])).toThrow(/base64/);
  });

  test('in results and earlier messages become a note if the model does not accept them [P12]', () => {
    const note = {
      type: 'text',
      text: '(A file of type image/png was omitted: this model does not accept it.)',
    };
    const blind = { ...plain, files: [] };
    const messages = [userMessage('x'), said(call('a')), { ...result('a'), content: [image] }];
    expect(view(messages, blind)[2]?.parts).toEqual([expect.objectContaining({ content: [note] })]);
    const past = [userMessage([image]), userMessage('Never mind.')];
    expect(view(past, blind)[0]?.parts).toEqual([note, { type: 'text', text: 'Never mind.' }]);
  });
});

import { seededRandom } from '@cobbler/agent/testing';
import type { TranscriptFormat } from '@cobbler/agent/transcripts';
import { repairTranscript } from '@cobbler/agent/transcripts';
import { randomHistory } from '@cobbler/conformance';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { chatTesting, responsesTesting } from '../src/testing/index.ts';
import { chatTranscripts, responsesTranscripts } from '../src/transcripts.ts';

function written(format: TranscriptFormat, seed: number): unknown[] {
  const { messages } = randomHistory(seededRandom(seed), {}, ['image/png', 'application/pdf']);
  const { messages: whole } = repairTranscript({ messages, places: [], problems: [], losses: [] });
  return format.write([], whole) as unknown[];
}

const checked = (format: TranscriptFormat, value: unknown) => repairTranscript(format.read(value));
const mended = (format: TranscriptFormat, value: unknown) =>
  format.write(value, checked(format, value).messages);
const told = (format: TranscriptFormat, value: unknown) =>
  checked(format, value).problems.map(({ place, what }) => `${place} ${what}`);

const refusedChat = (messages: unknown) =>
  chatTesting.refuse({ model: 'gpt-6-terra', stream: true, messages })?.body;
const refusedResponses = (input: unknown) =>
  responsesTesting.refuse({ model: 'gpt-6-terra', stream: true, input })?.body;

describe.each([
  ['Chat Completions', chatTranscripts, refusedChat],
  ['Responses', responsesTranscripts, refusedResponses],
] as const)('a stored %s conversation', (_name, format, refused) => {
  test('has no problems and is written back unchanged if the provider wrote it', () => {
    for (let seed = 1; seed <= 200; seed += 1) {
      const items = written(format, seed);
      expect(told(format, items)).toEqual([]);
      expect(mended(format, items)).toEqual(items);
    }
  });

  test('is repaired for the service if items are missing, repeated or reordered [P12]', () => {
    const torn = fc.nat(400).chain((seed) => {
      const items = written(format, seed);
      return fc.shuffledSubarray([...items, ...items], { minLength: 1 });
    });
    fc.assert(
      fc.property(torn, (items) => {
        const whole = mended(format, items);
        fc.pre((whole as unknown[]).length > 0);
        expect(refused(whole)).toBeUndefined();
        expect(told(format, whole)).toEqual([]);
      }),
      { numRuns: 300, seed: 20_261_121 },
    );
  });
});

const user = { role: 'user', content: 'Go.' };

describe('Chat Completions', () => {
  const call = (id: string, args = '{}') => ({
    id,
    type: 'function',
    function: { name: 'look', arguments: args },
  });
  const calls = (...ids: string[]) => ({
    role: 'assistant',
    content: null,
    tool_calls: ids.map((id) => call(id)),
  });
  const result = (id: string) => ({ role: 'tool', tool_call_id: id, content: `saw ${id}` });

  test.each([
    [
      'a call without a result',
      [user, calls('a', 'b'), result('b')],
      'messages[1] contains a call to look ("a") without a result',
    ],
    [
      'a result after a user message',
      [user, calls('a'), user, result('a')],
      'messages[3] is the result of the call "a", but is not directly after it',
    ],
    [
      'a result after another response',
      [user, calls('a'), { role: 'assistant', content: 'Hm.' }, result('a')],
      'messages[3] is the result of the call "a", but is not directly after it',
    ],
    [
      'a result without a call',
      [user, result('a')],
      'messages[1] is a result of the call "a", which is not open',
    ],
    [
      'invalid arguments',
      [user, { role: 'assistant', tool_calls: [call('a', '{"x":')] }, result('a')],
      'messages[1] contains a call whose arguments are not a JSON object',
    ],
    [
      'an unknown role',
      [user, { role: 'function', name: 'look', content: 'x' }],
      'messages[1] has the role "function"',
    ],
    ['an entry that is not a message', [user, 7], 'messages[1] is not a message'],
    ['an empty response', [user, { role: 'assistant', content: '' }], 'messages[1] is empty'],
  ])('reports and repairs: %s', (_what, messages, expected) => {
    expect(told(chatTranscripts, messages)).toEqual([expected]);
    const whole = mended(chatTranscripts, messages);
    expect(refusedChat(whole)).toBeUndefined();
    expect(told(chatTranscripts, whole)).toEqual([]);
  });

  test('reports and omits an empty list of calls [P12]', () => {
    const messages = [user, { role: 'assistant', content: 'So.', tool_calls: [] }, user];
    expect(refusedChat(messages)).toMatch(/empty array/);
    expect(told(chatTranscripts, messages)).toEqual(['messages[1] contains an empty list of calls']);
    expect(refusedChat(mended(chatTranscripts, messages))).toBeUndefined();
  });

  test('keeps leading system messages and the fields of the request body', () => {
    const lead = [
      { role: 'system', content: 'Be brief.' },
      { role: 'developer', content: 'In French.' },
    ];
    const body = { model: 'm', messages: [...lead, user, calls('a')] };
    const whole = mended(chatTranscripts, body) as unknown as typeof body;
    expect([whole.model, whole.messages.slice(0, 3)]).toEqual(['m', [...lead, user]]);
    expect(whole.messages).toHaveLength(5);
  });

  test('reports content that a conversion would lose', () => {
    const { losses } = checked(chatTranscripts, [
      user,
      { role: 'system', content: 'Now.' },
      {
        role: 'user',
        content: [
          { type: 'image_url', image_url: { url: 'https://example.org/a.png' } },
          { type: 'input_audio' },
        ],
      },
    ]);
    expect(losses.map(({ place, what }) => `${place} ${what}`)).toEqual([
      'messages[1] is a system message; it would become a user message',
      'messages[2] refers to an image without containing it',
      'messages[2] contains a part of type "input_audio"; only its type would be kept, as text',
    ]);
  });

  test('is distinguished from the formats of other services', () => {
    expect(chatTranscripts.match([user])).toBe(0);
    expect(chatTranscripts.match({ messages: [user, calls('a'), result('a')] })).toBe(2);
    expect(chatTranscripts.match({ input: 'Go.' })).toBeUndefined();
  });
});

describe('Responses', () => {
  const call = (id: string) => ({
    type: 'function_call',
    id: `fc_${id}`,
    call_id: id,
    name: 'look',
    arguments: '{}',
  });
  const result = (id: string) => ({ type: 'function_call_output', call_id: id, output: `saw ${id}` });
  const thought = {
    type: 'reasoning',
    id: 'rs_1',
    summary: [{ type: 'summary_text', text: 'hm' }],
    encrypted_content: 'x',
  };
  const answer = {
    type: 'message',
    role: 'assistant',
    content: [{ type: 'output_text', text: 'Hi.', annotations: [] }],
  };

  test.each([
    [
      'a call without an output',
      [user, call('a'), call('b'), result('b')],
      'input[1] contains a call to look ("a") without a result',
    ],
    [
      'an output without a call',
      [user, result('a')],
      'input[1] is a result of the call "a", which is not open',
    ],
    ['reasoning without a following item', [user, thought], 'input[1] is reasoning that no item follows'],
    [
      'reasoning before a user message',
      [user, thought, user, answer],
      'input[1] is reasoning that no item follows',
    ],
    ['an entry that is not an item', [user, null], 'input[1] is not an item'],
    ['an unknown role', [user, { role: 'critic', content: 'x' }], 'input[1] has the role "critic"'],
  ])('reports and repairs: %s', (_what, items, expected) => {
    expect(told(responsesTranscripts, items)).toEqual([expected]);
    expect(told(responsesTranscripts, mended(responsesTranscripts, items))).toEqual([]);
  });

  test('keeps reasoning, ids and service-specific items unchanged', () => {
    const search = { type: 'web_search_call', id: 'ws_1', action: { type: 'search', query: 'x' } };
    const items = [user, thought, call('a'), result('a'), search, { ...thought, id: 'rs_2' }, answer];
    expect(told(responsesTranscripts, items)).toEqual([]);
    const whole = mended(responsesTranscripts, items) as unknown[];
    expect(whole.slice(1, 3)).toEqual([thought, call('a')]);
    expect(whole).toContainEqual(search);
  });

  test('accepts a string as the whole conversation', () => {
    expect(told(responsesTranscripts, { model: 'm', input: 'Go.' })).toEqual([]);
    expect(mended(responsesTranscripts, { model: 'm', input: '' })).toMatchObject({ model: 'm' });
  });

  test('is distinguished from the formats of other services', () => {
    expect(responsesTranscripts.match([user])).toBe(0);
    expect(responsesTranscripts.match({ input: [user, call('a'), result('a')] })).toBe(2);
    expect(responsesTranscripts.match({ messages: [] })).toBeUndefined();
  });
});

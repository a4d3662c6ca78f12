import { seededRandom } from '@cobbler/agent/testing';
import { repairTranscript } from '@cobbler/agent/transcripts';
import { randomHistory } from '@cobbler/conformance';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { claudeTesting } from '../src/testing/index.ts';
import { claudeTranscripts as format } from '../src/transcripts.ts';

type Message = { readonly role: string; readonly content: readonly { readonly type: string }[] };

/** Returns a conversation as the provider writes it. */
function written(seed: number): Message[] {
  const { messages } = randomHistory(seededRandom(seed), {}, ['image/png', 'application/pdf']);
  const { messages: whole } = repairTranscript({ messages, places: [], problems: [], losses: [] });
  return format.write([], whole) as unknown as Message[];
}

const checked = (value: unknown) => repairTranscript(format.read(value));
const told = (...messages: unknown[]) =>
  checked(messages).problems.map(({ place, what }) => `${place} ${what}`);
const mended = (value: unknown) => format.write(value, checked(value).messages);

/** Returns the service's error. Adds a user message if the last one is from the model. */
function refused(messages: unknown): string | undefined {
  const list = messages as Message[];
  const asked = list.at(-1)?.role === 'assistant' ? [...list, { role: 'user', content: 'Go on.' }] : list;
  const tools = [{ name: 'look', input_schema: { type: 'object' } }];
  return claudeTesting.refuse({ model: 'claude-sonnet-5-5', max_tokens: 99, tools, messages: asked })?.body;
}

const user = (text: string) => ({ role: 'user', content: text });
const says = (text: string) => ({ role: 'assistant', content: text });
const calls = (...ids: string[]) => ({
  role: 'assistant',
  content: ids.map((id) => ({ type: 'tool_use', id, name: 'look', input: { at: id } })),
});
const result = (id: string, content: unknown = `saw ${id}`) => ({
  type: 'tool_result',
  tool_use_id: id,
  content,
});
const results = (...ids: string[]) => ({ role: 'user', content: ids.map((id) => result(id)) });

describe('a stored Messages conversation', () => {
  test('has no problems and is written back unchanged if the provider wrote it', () => {
    for (let seed = 1; seed <= 200; seed += 1) {
      const messages = written(seed);
      expect(checked(messages).problems).toEqual([]);
      expect(mended(messages)).toEqual(messages);
    }
  });

  test('is repaired for the service if messages and blocks are missing, repeated or reordered [P12]', () => {
    const torn = fc.nat(400).chain((seed) => {
      const messages = written(seed);
      const blocks = fc.infiniteStream(fc.boolean());
      return fc.tuple(fc.shuffledSubarray([...messages, ...messages], { minLength: 1 }), blocks);
    });
    fc.assert(
      fc.property(torn, ([messages, keeps]) => {
        const damaged = messages.map(({ role, content }) => ({
          role,
          content: content.filter(() => keeps.next().value),
        }));
        const whole = mended(damaged);
        fc.pre((whole as unknown[]).length > 0);
        expect(refused(whole)).toBeUndefined();
        expect(checked(whole).problems).toEqual([]);
      }),
      { numRuns: 300, seed: 20_261_121 },
    );
  });

  test('keeps the other fields of its request body', () => {
    const body = { model: 'm', system: 'Be brief.', messages: [user('Go.'), calls('a')] };
    const whole = mended(body) as typeof body;
    expect(whole).toMatchObject({ model: 'm', system: 'Be brief.' });
    expect(whole.messages).toHaveLength(3);
    expect(Array.isArray(mended(body.messages))).toBe(true);
  });

  test('is distinguished from the formats of other services', () => {
    expect(format.match({ model: 'm' })).toBeUndefined();
    expect(format.match([user('Go.')])).toBe(0);
    expect(format.match([calls('a'), results('a')])).toBe(2);
    expect(format.match({ system: 'x', messages: [user('Go.')] })).toBe(1);
  });
});

describe('the check of a conversation', () => {
  test.each([
    [
      'a call without a result',
      [user('Go.'), calls('a', 'b'), results('a')],
      'messages[1] contains a call to look ("b") without a result',
    ],
    [
      'a result without a call',
      [user('Go.'), results('x')],
      'messages[1] is a result of the call "x", which is not open',
    ],
    [
      'an assistant message first',
      [says('Hello.'), user('Go.')],
      'messages[0] is the first message, but is not from the user',
    ],
    ['an empty text', [user(''), user('Go.')], 'messages[0] is empty'],
    [
      'a text of only whitespace',
      [user('Go.'), says(' \n ')],
      'messages[1] has a text block that contains only whitespace',
    ],
    ['a lone surrogate', [user('x \ud83d')], 'messages[0] contains a lone surrogate'],
    ['an unknown role', [user('Go.'), { role: 'tool', content: 'x' }], 'messages[1] has the role "tool"'],
    [
      'a repeated call id',
      [user('Go.'), calls('a'), results('a'), calls('a'), results('a')],
      'messages[3] reuses the call id "a"',
    ],
    [
      'a call id with invalid characters',
      [user('Go.'), calls('a|b'), results('a|b')],
      'messages[1] contains a call with the id "a|b", which no service accepts',
    ],
    [
      'invalid arguments',
      [
        user('Go.'),
        { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'look', input: [] }] },
        results('a'),
      ],
      'messages[1] contains a call with unusable arguments',
    ],
    [
      'text before results',
      [user('Go.'), calls('a'), { role: 'user', content: [{ type: 'text', text: 'So?' }, result('a')] }],
      'messages[2] contains a tool result after other content',
    ],
    [
      'a result in an assistant message',
      [user('Go.'), { role: 'assistant', content: [...calls('a').content, result('a')] }],
      'messages[1] contains a tool result, but is from the assistant',
    ],
    [
      'a call in a user message',
      [{ role: 'user', content: [...calls('a').content, { type: 'text', text: 'Go.' }] }],
      'messages[0] contains a tool call, but is from the user',
    ],
    [
      'unsigned thinking',
      [
        user('Go.'),
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'hm' },
            { type: 'text', text: 'Hi.' },
          ],
        },
      ],
      'messages[1] contains a thinking block without a signature',
    ],
    ['an entry that is not a message', [user('Go.'), 'Hi.'], 'messages[1] is not a message'],
  ])('reports and repairs: %s', (_what, messages, expected) => {
    expect(told(...messages)).toEqual([expected]);
    const whole = mended(messages);
    expect(refused(whole)).toBeUndefined();
    expect(checked(whole).problems).toEqual([]);
  });

  test('reports nothing for unusual but valid content, and keeps it', () => {
    const searched = { type: 'web_search_tool_result', tool_use_id: 'srv', content: [] };
    const odd = [
      { role: 'user', content: [{ type: 'text', text: 'Go.' }] },
      {
        role: 'assistant',
        content: [{ type: 'server_tool_use', id: 'srv', name: 'web_search', input: {} }, searched],
      },
      calls('a'),
      { role: 'user', content: [result('a', [])] },
      says('Done.'),
    ];
    expect(told(...odd)).toEqual([]);
    expect(JSON.stringify(mended(odd))).toContain('server_tool_use');
  });

  test('reports images that the service does not accept and replaces them with notes, in results too [P12]', () => {
    const bmp = { type: 'image', source: { type: 'base64', media_type: 'image/bmp', data: 'Qk0=' } };
    const messages = [
      { role: 'user', content: [{ type: 'text', text: 'Look.' }, bmp] },
      calls('a'),
      { role: 'user', content: [result('a', [bmp])] },
    ];
    const what =
      /contains something that the service does not accept: files of type image\/bmp, only image\/jpeg/;
    expect(told(...messages)).toEqual(
      [0, 2].map((at) => expect.stringMatching(new RegExp(`messages.${at}. ${what.source}`))),
    );
    expect(refused(mended(messages))).toBeUndefined();
    expect(JSON.stringify(mended(messages)).match(/was omitted/g)).toHaveLength(2);
  });

  test('moves results before text instead of dropping them', () => {
    const behind = { role: 'user', content: [{ type: 'text', text: 'So?' }, result('a')] };
    const [, , answer] = mended([user('Go.'), calls('a'), behind]) as unknown as Message[];
    expect(answer?.content).toMatchObject([
      { type: 'tool_result', content: [{ text: 'saw a' }] },
      { text: 'So?' },
    ]);
  });

  test('reports content that a conversion would lose', () => {
    const { losses } = checked([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Go.', cache_control: { type: 'ephemeral' } },
          { type: 'image', source: { type: 'url', url: 'https://example.org/a.png' } },
          { type: 'search_result' },
        ],
      },
      { role: 'system', content: 'Be brief.' },
    ]);
    expect(losses.map(({ what }) => what)).toEqual([
      'contains cache_control; it would be omitted',
      'refers to an image without containing it',
      'contains a block of type "search_result"; it would be omitted',
      'is a system message; it would become a user message',
    ]);
  });
});

import { describe, expect, test } from 'vitest';
import { refuse } from '../src/testing/rules.ts';
import { sign } from '../src/testing/signature.ts';

type Body = Record<string, unknown>;

const tool = { name: 'put', description: 'Puts.', input_schema: { type: 'object' } };
const use = (id: string) => ({ type: 'tool_use', id, name: 'put', input: {} });
const result = (id: string) => ({
  type: 'tool_result',
  tool_use_id: id,
  content: [{ type: 'text', text: 'ok' }],
});
const text = (said: string) => ({ type: 'text', text: said });
const user = (...content: object[]) => ({ role: 'user', content });
const assistant = (...content: object[]) => ({ role: 'assistant', content });
const mark = { cache_control: { type: 'ephemeral' } };
const thinking = (said: string, signature: unknown) => ({ type: 'thinking', thinking: said, signature });

/** Returns a valid request with these fields replaced. */
function body(own: Body = {}): Body {
  const messages = [
    user(text('Go.')),
    assistant(thinking('Hm.', sign('Hm.', 's1')), use('toolu_1'), use('toolu_2')),
    user(result('toolu_2'), result('toolu_1'), { ...text('And?'), ...mark }),
  ];
  return {
    model: 'claude-sonnet-5-5',
    max_tokens: 100,
    stream: true,
    system: [text('Be brief.')],
    tools: [tool],
    messages,
    ...own,
  };
}

const say = (...messages: object[]) => body({ messages });

function messageOf(request: Body): string | undefined {
  const refused = refuse(request);
  if (refused === undefined) return undefined;
  const { type, error } = JSON.parse(refused.body) as { type: string; error: { message: string } };
  expect(type).toBe('error');
  return error.message;
}

test('the mock accepts a valid request, and consecutive messages of the same role', () => {
  expect(messageOf(body())).toBeUndefined();
  expect(messageOf(say(user(text('One.')), user(text('Two.'))))).toBeUndefined();
  expect(messageOf(say({ role: 'user', content: 'Short for a text block.' }))).toBeUndefined();
});

describe('the mock, with the error messages of the service [P12]', () => {
  const cases: readonly (readonly [string, Body, string])[] = [
    ['no model', body({ model: undefined }), 'model: Field required'],
    ['no max_tokens', body({ max_tokens: undefined }), 'max_tokens: Field required'],
    ['a fractional max_tokens', body({ max_tokens: 0.5 }), 'max_tokens: Input should be a valid integer'],
    ['negative tokens', body({ max_tokens: -1 }), 'max_tokens: Input should be greater than or equal to 0'],
    [
      'too many tokens',
      body({ max_tokens: 128_001 }),
      'max_tokens: 128001 > 128000, which is the maximum allowed number of output tokens for claude-sonnet-5-5',
    ],
    ['no messages', body({ messages: [] }), 'messages: at least one message is required'],
    ['a temperature', body({ temperature: 1 }), 'temperature: Extra inputs are not permitted'],
    ['an unknown model', body({ model: 'gpt-6' }), 'model: gpt-6'],
    [
      'a thinking budget',
      body({ thinking: { type: 'enabled', budget_tokens: 2000 } }),
      '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.',
    ],
    [
      'adaptive thinking for a model that does not support it',
      body({ model: 'claude-haiku-4-5', thinking: { type: 'adaptive' } }),
      'adaptive thinking is not supported on this model',
    ],
    [
      'an effort for a model that does not support it',
      body({ model: 'claude-haiku-4-5', output_config: { effort: 'low' } }),
      'This model does not support the effort parameter.',
    ],
    [
      'an open object in the output schema',
      body({
        output_config: {
          format: { type: 'json_schema', schema: { type: 'array', items: { type: 'object' } } },
        },
      }),
      "output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false",
    ],
    [
      'a tool name with a dot',
      body({ tools: [{ ...tool, name: 'a.b' }] }),
      "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
    ],
    [
      'a tool schema without type',
      body({ tools: [{ ...tool, input_schema: {} }] }),
      'tools.0.custom.input_schema.type: Field required',
    ],
    ['a duplicate tool', body({ tools: [tool, tool] }), 'tools: Tool names must be unique.'],
    [
      'a tool choice without tools',
      body({ tools: [], tool_choice: { type: 'none' } }),
      'tool_choice.none may only be specified while providing tools',
    ],
    [
      'five blocks with cache_control',
      body({ system: Array.from({ length: 4 }, () => ({ ...text('x'), ...mark })) }),
      'A maximum of 4 blocks with cache_control may be provided. Found 5.',
    ],
    ['an empty system text', body({ system: [text('')] }), 'system: text content blocks must be non-empty'],
    [
      'an unknown role',
      say({ role: 'tool_result', content: [text('x')] }),
      "messages.0.role: Input should be 'user' or 'assistant'",
    ],
    [
      'an assistant message first',
      say(assistant(text('Hi.'))),
      'messages: first message must use the "user" role',
    ],
    [
      'a message without content',
      say(user()),
      'messages.0: all messages must have non-empty content except for the optional final assistant message',
    ],
    ['an empty text', say(user(text(''))), 'messages: text content blocks must be non-empty'],
    [
      'a text of only whitespace',
      say(user(text(' \n'))),
      'messages: text content blocks must contain non-whitespace text',
    ],
    [
      'an empty text with cache_control',
      say(user({ ...text(''), ...mark })),
      'messages.0.content.0.text: cache_control cannot be set for empty text blocks',
    ],
    [
      'thinking with cache_control',
      say(user(text('x')), assistant({ ...thinking('Hm.', sign('Hm.', '')), ...mark }), user(text('y'))),
      'messages.1.content.0.thinking.cache_control: Extra inputs are not permitted',
    ],
    [
      'changed thinking',
      say(user(text('x')), assistant(thinking('Ha.', sign('Hm.', 's1'))), user(text('y'))),
      'messages.1.content.0: Invalid `signature` in `thinking` block',
    ],
    [
      'a signature that the service did not create',
      say(user(text('x')), assistant(thinking('Hm.', 'Eq==')), user(text('y'))),
      'messages.1.content.0: Invalid `signature` in `thinking` block',
    ],
    [
      'unsigned thinking',
      say(user(text('x')), assistant(thinking('Hm.', undefined)), user(text('y'))),
      'messages.1.content.0.thinking.signature: Field required',
    ],
    [
      'a call id with invalid characters',
      say(user(text('x')), assistant(use('a.b')), user(result('a.b'))),
      "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
    ],
    [
      'arguments that are not an object',
      say(user(text('x')), assistant({ ...use('a'), input: '{}' }), user(result('a'))),
      'messages.1.content.0.tool_use.input: Input should be a valid dictionary',
    ],
    [
      'a tool call in a user message',
      say(user(use('a'))),
      'messages.0: `tool_use` blocks can only be in `assistant` messages',
    ],
    [
      'a tool result in an assistant message',
      say(user(text('x')), assistant(result('a')), user(text('y'))),
      'messages.1: `tool_result` blocks can only be in `user` messages',
    ],
    [
      'a duplicate call id',
      say(user(text('x')), assistant(use('a'), use('a')), user(result('a'))),
      'messages.1.content.1: `tool_use` ids must be unique',
    ],
    [
      'a call without a result',
      say(user(text('x')), assistant(use('a'), use('b')), user(result('b'))),
      'messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: a. Each `tool_use` block must have a corresponding `tool_result` block in the next message.',
    ],
    [
      'text before the result',
      say(user(text('x')), assistant(use('a')), user(text('Wait.'), result('a'))),
      'messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: a. Each `tool_use` block must have a corresponding `tool_result` block in the next message.',
    ],
    [
      'a result without a call',
      say(user(text('x')), assistant(text('y')), user(result('a'))),
      'messages.2.content.0: unexpected `tool_use_id` found in `tool_result` blocks: a. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.',
    ],
    [
      'two results for one call',
      say(user(text('x')), assistant(use('a')), user(result('a'), result('a'))),
      'messages.2.content.1: each tool_use must have a single result. Found multiple `tool_result` blocks with id: a',
    ],
    [
      'calls in the history but no tools',
      body({ tools: [] }),
      'Requests which include `tool_use` or `tool_result` blocks must define tools.',
    ],
    [
      'an image of an unsupported type',
      say(user({ type: 'image', source: { type: 'base64', media_type: 'image/bmp', data: '' } })),
      "messages.0.content.0.image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'",
    ],
    [
      'a document of an unsupported type',
      say(user({ type: 'document', source: { type: 'base64', media_type: 'text/csv', data: '' } })),
      "messages.0.content.0.document.source.base64.media_type: Input should be 'application/pdf'",
    ],
    [
      'a document in an assistant message',
      say(user(text('x')), assistant({ type: 'document' }), user(text('y'))),
      'messages.1: `document` blocks can only be in `user` messages',
    ],
    [
      'an assistant message last',
      say(user(text('x')), assistant(text('y'))),
      'This model does not support assistant message prefill. The conversation must end with a user message.',
    ],
  ];

  test.each(cases)('rejects a request with %s', (_what, request, words) => {
    // JSON omits undefined fields, so the service never sees them.
    expect(messageOf(JSON.parse(JSON.stringify(request)) as Body)).toBe(words);
  });

  test.each(['\ud83d', 'a\udc00', '\ud83d\ud83d\udc00'])('rejects an unpaired surrogate, %j', (half) => {
    expect(messageOf(say(user(text(half))))).toMatch(
      /^The request body is not valid JSON: no low surrogate in string: line 1 column \d+/,
    );
  });
});

test('the mock accepts a surrogate pair, and a schema property named cache_control', () => {
  const schema = { type: 'object', properties: { cache_control: {} } };
  expect(
    messageOf(body({ tools: [{ ...tool, input_schema: schema }], system: [text('🧵')] })),
  ).toBeUndefined();
});

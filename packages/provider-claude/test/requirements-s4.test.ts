import type { Tool } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';
import type { HarnessHandler } from '@cobbler/agent/harness';
import type { FlatTool } from '@cobbler/agent/provider';
import type { Loopback, MockReply } from '@cobbler/agent/testing';
import {
  callBlock,
  failsWith,
  replies,
  scriptResponse,
  serveLoopback,
  wireServer,
} from '@cobbler/agent/testing';
import { afterEach, describe, expect, test } from 'vitest';
import type { ClaudeHarnessConfig } from '../src/index.ts';
import { claudeHarness } from '../src/index.ts';
import { claudeTesting } from '../src/testing/index.ts';

const open: Loopback[] = [];
afterEach(async () => {
  for (const service of open.splice(0)) await service.close();
});

const look: FlatTool = {
  name: 'look',
  description: 'Looks at a file.',
  inputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
  execute: async (input) => `contents of ${String(input['path'])}`,
};

/** Returns a conversation with a service that plays this script. */
async function stage(
  script: readonly MockReply[],
  config: ClaudeHarnessConfig = {},
  tools: readonly (Tool | FlatTool)[] = [look],
  handler: HarnessHandler | null = null,
) {
  const server = wireServer(claudeTesting, script);
  const service = await serveLoopback(server.handler);
  open.push(service);
  const link = { apiKey: 'sk-ant-test-0123456789', env: {}, baseURL: service.url };
  const harness = claudeHarness({ ...link, retry: { baseMs: 1, maxMs: 1 }, ...config }, tools, handler);
  const body = (index: number): Record<string, unknown> => JSON.parse(server.exchanges[index]?.text ?? '{}');
  return { harness, server, body };
}

const says = (text: string): MockReply => replies(scriptResponse([text]));
const looks = (...paths: readonly string[]): MockReply =>
  replies(
    scriptResponse([
      'I will read it.',
      ...paths.map((path, index) => callBlock(`toolu_${path}_${index}`, 'look', { path })),
    ]),
  );

describe('the configuration [S4.1]', () => {
  test('defaults to the fast model, 4096 tokens and no system prompt', async () => {
    const { harness, body } = await stage([says('Hi.')]);
    await harness.prompt('Hello.').result;
    expect(body(0)).toMatchObject({ model: 'claude-haiku-5-5', max_tokens: 4096 });
    expect(body(0)).not.toHaveProperty('system');
  });

  test('sets the model, token limit and system prompt of a request', async () => {
    const { harness, body } = await stage([says('Hi.')], {
      model: 'best',
      maxTokens: 100,
      systemPrompt: 'Be brief.',
    });
    await harness.prompt('Hello.').result;
    expect(body(0)).toMatchObject({ model: 'claude-opus-5-5', max_tokens: 100 });
    expect(JSON.stringify(body(0)['system'])).toContain('Be brief.');
  });

  test('allows ten requests per prompt by default', async () => {
    const endless = Array.from({ length: 12 }, (_, index) => looks(`file ${index}`));
    const { harness, server } = await stage(endless);
    expect(await harness.prompt('Look.').result).toMatchObject({ status: 'limit', limit: 'turns' });
    expect(server.exchanges).toHaveLength(10);
    const few = await stage(endless, { maxTurns: 2 });
    await few.harness.prompt('Look.').result;
    expect(few.server.exchanges).toHaveLength(2);
  });

  test('is rejected at creation if the key is missing', () => {
    expect(() => claudeHarness({ env: {} })).toThrow(
      expect.objectContaining({
        kind: 'invalid',
        code: 'no_key',
        message: expect.stringContaining('ANTHROPIC_API_KEY'),
      }),
    );
  });
});

test('sends tool choice auto, or omits it, which means the same [S4.2]', async () => {
  const { harness, body } = await stage([looks('a'), says('Done.')]);
  await harness.prompt('Look.').result;
  for (const index of [0, 1]) {
    expect([undefined, 'auto']).toContain(
      (body(index)['tool_choice'] as { type?: string } | undefined)?.type,
    );
  }
});

test('runs a flat tool with its input and stores the returned text [S4.3]', async () => {
  const { harness } = await stage([looks('a'), says('Done.')]);
  const { messages } = await harness.prompt('Look.').result;
  expect(messages[2]).toMatchObject({ role: 'tool_result', content: [{ text: 'contents of a' }] });
});

describe('the handler [S4.4]', () => {
  test('can be null', async () => {
    const { harness } = await stage([says('Hi.')], {}, [look], null);
    expect((await harness.prompt('Hello.').result).text).toBe('Hi.');
  });
});

test('reports messages and sends requests until the model calls no tool [S4.5]', async () => {
  const heard: string[] = [];
  const handler: HarnessHandler = {
    onUser: (content) => heard.push(`user: ${content}`),
    onText: (text) => heard.push(`text: ${text}`),
  };
  const { harness, server } = await stage([looks('a'), says('Done.')], {}, [look], handler);
  const result = await harness.prompt('Look.').result;
  expect(result).toMatchObject({ status: 'complete', text: 'Done.' });
  expect(heard).toEqual(['user: Look.', 'text: I will read it.', 'text: Done.']);
  expect(server.exchanges).toHaveLength(2);
});

test('returns status failed for an API error, and unwrap throws it [S4.5]', async () => {
  const { harness } = await stage([failsWith({ kind: 'invalid', message: 'no' })]);
  const result = await harness.prompt('Hello.').result;
  expect(result.status).toBe('failed');
  expect(() => result.unwrap()).toThrow(AgentError);
});

test('only appends to the history: each request begins with the messages of the previous one [S4.8]', async () => {
  const { harness, server } = await stage([looks('a'), says('Done.'), says('And again.')]);
  await harness.prompt('Look.').result;
  await harness.prompt('Again.').result;
  const sent = server.exchanges.map(({ text }) => {
    const { messages } = JSON.parse(text) as { messages: unknown[] };
    // Cache marks move to later messages; they are not part of the conversation.
    return messages.map((message) => JSON.stringify(message).replace(/,"cache_control":\{[^}]*\}/g, ''));
  });
  for (const [index, messages] of sent.entries()) {
    const before = sent[index - 1] ?? [];
    expect(messages.slice(0, before.length)).toEqual(before);
  }
  expect(sent.at(-1)).toHaveLength(5);
});

test('reports each block once, complete and in stream order [S4.9, S4.10]', async () => {
  const heard: string[] = [];
  const handler: HarnessHandler = {
    onText: (text) => heard.push(`text: ${text}`),
    onReasoning: (text) => heard.push(`reasoning: ${text}`),
    onToolCall: (id, name, input) => heard.push(`call: ${id} ${name} ${JSON.stringify(input)}`),
    onToolResult: (id, result, isError) => heard.push(`result: ${id} ${result} ${isError}`),
  };
  const first = replies(
    scriptResponse([
      { type: 'reasoning', text: 'Which file?', seal: 'seal' },
      'I will read it.',
      callBlock('toolu_1', 'look', { path: 'a' }),
    ]),
  );
  const { harness } = await stage([first, says('Done.')], {}, [look], handler);
  await harness.prompt('Look.').result;
  expect(heard).toEqual([
    'reasoning: Which file?',
    'text: I will read it.',
    'call: toolu_1 look {"path":"a"}',
    'result: toolu_1 contents of a false',
    'text: Done.',
  ]);
});

test('declares tools by name, description and input_schema, identically in every request [S4.11]', async () => {
  const { harness, body } = await stage([looks('a'), says('Done.'), says('Yes.')]);
  await harness.prompt('Look.').result;
  await harness.prompt('Sure?').result;
  expect(body(0)['tools']).toMatchObject([
    { name: 'look', description: 'Looks at a file.', input_schema: look.inputSchema },
  ]);
  const declared = [0, 1, 2].map((index) => JSON.stringify(body(index)['tools']));
  expect(new Set(declared).size).toBe(1);
});

describe('a tool that fails [S4.13, S4.14]', () => {
  const broken: FlatTool = {
    ...look,
    execute: async ({ path }) => {
      if (path === 'b') throw new Error('there is no b');
      return `contents of ${String(path)}`;
    },
  };

  test('stops its batch, is reported to the model and does not end the run', async () => {
    const ran: string[] = [];
    const watched: FlatTool = {
      ...broken,
      execute: (input, context) => {
        ran.push(String(input['path']));
        return broken.execute(input, context);
      },
    };
    const results: (readonly [string, boolean])[] = [];
    const handler: HarnessHandler = {
      onToolResult: (_id, result, isError) => results.push([result, isError]),
    };
    const { harness, body } = await stage([looks('a', 'b', 'c'), says('Sorry.')], {}, [watched], handler);
    expect((await harness.prompt('Look.').result).status).toBe('complete');
    expect(ran).toEqual(['a', 'b']);
    expect(results).toEqual([
      ['contents of a', false],
      [expect.stringContaining('there is no b'), true],
    ]);
    const { messages } = body(1) as { messages: { content: { type: string; is_error?: boolean }[] }[] };
    expect(messages.at(-1)?.content.map(({ type, is_error }) => [type, is_error === true])).toEqual([
      ['tool_result', false],
      ['tool_result', true],
      ['tool_result', true],
    ]);
  });
});

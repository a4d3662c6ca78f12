import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Message, ModelRequest, Tool } from '@cobbler/agent';
import { fetchTransport } from '@cobbler/agent/provider';
import type { ProviderTesting } from '@cobbler/agent/testing';
import { callBlock, scriptResponse } from '@cobbler/agent/testing';
import { expect, test } from 'vitest';
import type { OpenAIApi } from '../src/index.ts';
import { createOpenAI } from '../src/index.ts';
import { chatTesting, responsesTesting } from '../src/testing/index.ts';
import { encrypt } from '../src/testing/responses/cipher.ts';
import { fine, withService } from './service.ts';

const tool: Tool = {
  name: 'look_up',
  description: 'Looks a word up.',
  parameters: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] },
  execute: () => '',
};

const picture = { type: 'file', mediaType: 'image/png', data: 'iVBORw0KGgo=' } as const;
const paper = { type: 'file', mediaType: 'application/pdf', data: 'JVBERi0=', name: 'plan.pdf' } as const;

function seal(data: NonNullable<Extract<Message['content'][number], { type: 'opaque' }>['seal']>['data']) {
  return { provider: 'openai', data };
}

/** A conversation with every kind of content. */
const messages: readonly Message[] = [
  { role: 'user', content: [{ type: 'text', text: 'Look at these.' }, picture, paper] },
  {
    role: 'assistant',
    content: [
      {
        type: 'reasoning',
        text: 'Hm.',
        seal: seal({
          id: 'rs_1',
          type: 'reasoning',
          summary: [{ type: 'summary_text', text: 'Hm.' }],
          encrypted_content: encrypt('x'),
        }),
      },
      { type: 'opaque', seal: seal({ type: 'message', id: 'msg_1', phase: 'commentary' }) },
      { type: 'text', text: 'I look.' },
      {
        type: 'tool_call',
        id: 'a',
        toolName: 'look_up',
        arguments: { word: 'last' },
        seal: seal({ id: 'fc_1' }),
      },
      { type: 'tool_call', id: 'b', toolName: 'look_up', arguments: {} },
    ],
  },
  { role: 'tool_result', toolCallId: 'a', content: [{ type: 'text', text: 'A foot.' }, picture, paper] },
  { role: 'tool_result', toolCallId: 'b', content: [{ type: 'text', text: 'None.' }], isError: true },
  { role: 'assistant', content: [{ type: 'text', text: 'A wooden foot.' }] },
  { role: 'user', content: [{ type: 'text', text: 'Go on.' }] },
];

const closed = { type: 'object', properties: {}, required: [], additionalProperties: false };

const requests: readonly ModelRequest[] = [
  { messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi.' }] }], tools: [] },
  { messages, tools: [tool], system: ['Be brief.', 'Today.'], config: { maxTokens: 500, effort: 'low' } },
  { messages, tools: [tool], config: { toolChoice: 'none' }, output: { name: 'facts', schema: closed } },
  { messages, tools: [tool], output: { name: 'facts', schema: { type: 'object' } } },
];

/** Returns the bodies of these requests. Requests to OpenAI are redirected to the local service. */
async function bodiesOf(api: OpenAIApi, testing: ProviderTesting): Promise<unknown[]> {
  const bodies: unknown[] = [];
  await withService(testing, fine, async ({ url, exchanges }) => {
    const { host } = new URL(url);
    const toHere: typeof fetch = (input, init) =>
      fetch(String(input).replace('https://api.openai.com', `http://${host}`), init);
    const transport = fetchTransport(toHere);
    const official = { api, apiKey: 'sk-test', env: {}, transport };
    const agents = [
      createOpenAI({ ...official, model: 'gpt-6-luna' }),
      createOpenAI({ ...official, model: 'gpt-4.1', temperature: 0.5 }),
      createOpenAI({ api, env: {}, baseURL: url, model: 'llama3.3', temperature: 0.5 }),
    ];
    for (const agent of agents) for (const request of requests) await agent.run(request);
    bodies.push(...exchanges.map(({ text }) => JSON.parse(text) as unknown));
  });
  return bodies;
}

/** Returns every kind of payload that the mock plays, with all fields that the types require. */
function payloadsOf(testing: ProviderTesting): unknown[] {
  const usage = {
    inputTokens: 9,
    outputTokens: 8,
    cacheReadTokens: 7,
    cacheWriteTokens: 6,
    reasoningTokens: 5,
  };
  const thoughts =
    testing.lacks.seal === undefined ? [{ type: 'reasoning', text: 'Hm.', seal: 'x' } as const] : [];
  const answer = scriptResponse([...thoughts, 'Text.', callBlock('a', 'look_up', { word: 'w' })], { usage });
  const steps = answer.blocks.flatMap((_, at) => [
    ...testing.line({ type: 'open', at }, answer),
    ...testing.line({ type: 'delta', at, text: 'x' }, answer),
    ...testing.line({ type: 'seal', at }, answer),
    ...testing.line({ type: 'close', at }, answer),
  ]);
  const ends = (['complete', 'max_tokens', 'refusal'] as const).flatMap((stop) => {
    return testing.line({ type: 'end' }, { ...answer, blocks: answer.blocks.slice(0, -1), stop });
  });
  const all = [...testing.begin(answer), ...steps, ...testing.line({ type: 'end' }, answer), ...ends];
  return all.filter((payload) => typeof payload !== 'string').map(withOutputText);
}

/** Adds `output_text`, which the types require but which is not on the wire: the SDK sets it. */
function withOutputText(payload: unknown): unknown {
  const { response, ...rest } = payload as { response?: object };
  return response === undefined ? payload : { ...rest, response: { output_text: '', ...response } };
}

const sdk = fileURLToPath(new URL('../node_modules/openai/resources', import.meta.url));
const compiler = fileURLToPath(new URL('../../../node_modules/typescript/bin/tsc', import.meta.url));
const imports = [
  `import type { ResponseCreateParamsStreaming, ResponseStreamEvent } from '${sdk}/responses/responses.js';`,
  `import type { ChatCompletionChunk, ChatCompletionCreateParamsStreaming } from '${sdk}/chat/completions/completions.js';`,
];

/** Returns the lines that the compiler rejects, given one declaration per line. */
async function refusedLines(declarations: readonly string[]): Promise<Set<number>> {
  const folder = await mkdtemp(join(tmpdir(), 'cobbler-types-'));
  try {
    await writeFile(join(folder, 'check.ts'), [...imports, ...declarations].join('\n'));
    const options = {
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      module: 'nodenext',
      lib: ['es2023', 'dom'],
      types: [],
    };
    await writeFile(
      join(folder, 'tsconfig.json'),
      JSON.stringify({ compilerOptions: options, files: ['check.ts'] }),
    );
    const output = await new Promise<string>((resolve) => {
      execFile(process.execPath, [compiler, '-p', folder], (_error, stdout, stderr) =>
        resolve(stdout + stderr),
      );
    });
    expect(output).not.toMatch(/error TS(2307|6053|5\d{3})|Error:/);
    const found = [...output.matchAll(/check\.ts\((\d+),/g)];
    return new Set(found.map((match) => Number(match[1]) - imports.length));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function declared(type: string, values: readonly unknown[]): string[] {
  return values.map((value) => `(${JSON.stringify(value)}) satisfies ${type};`);
}

/** Returns the value with its last field of this name renamed. */
function renamed(value: unknown, field: string): unknown {
  const json = JSON.stringify(value);
  const at = json.lastIndexOf(`"${field}":`);
  expect(at).toBeGreaterThan(0);
  return JSON.parse(`${json.slice(0, at)}"${field}s":${json.slice(at + field.length + 3)}`);
}

test('matches the SDK types with each body and payload, and detects renamed fields', async () => {
  const bodies = {
    responses: await bodiesOf('responses', responsesTesting),
    chat: await bodiesOf('chat', chatTesting),
  };
  const good = [
    ...declared('ResponseCreateParamsStreaming', bodies.responses),
    ...declared('ChatCompletionCreateParamsStreaming', bodies.chat),
    ...declared('ResponseStreamEvent', payloadsOf(responsesTesting)),
    ...declared('ChatCompletionChunk', payloadsOf(chatTesting)),
  ];
  const ofResponses = [
    'max_output_tokens',
    'encrypted_content',
    'call_id',
    'file_data',
    'effort',
    'parameters',
  ];
  const ofChat = ['max_completion_tokens', 'tool_call_id', 'include_usage', 'image_url', 'arguments'];
  const bad = [
    ...declared(
      'ResponseCreateParamsStreaming',
      ofResponses.map((field) => renamed(bodies.responses[1], field)),
    ),
    ...declared(
      'ChatCompletionCreateParamsStreaming',
      ofChat.map((field) => renamed(bodies.chat[1], field)),
    ),
    ...declared('ChatCompletionChunk', [renamed(payloadsOf(chatTesting).at(-1), 'prompt_tokens')]),
  ];
  expect(good.length).toBeGreaterThan(50);
  const refused = await refusedLines([...good, ...bad]);
  expect(good.filter((_, index) => refused.has(index + 1))).toEqual([]);
  expect(bad.filter((_, index) => !refused.has(good.length + index + 1))).toEqual([]);
}, 120_000);

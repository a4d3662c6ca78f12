import { Anthropic } from '@anthropic-ai/sdk';
import type { Message } from '@anthropic-ai/sdk/resources/messages';
import type { AssistantPart, ModelResponse } from '@cobbler/agent';
import { userMessage } from '@cobbler/agent';
import type { Loopback, ScriptAnswer, ScriptBlock } from '@cobbler/agent/testing';
import { callBlock, replies, scriptResponse, serveLoopback, wireServer } from '@cobbler/agent/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClaude } from '../src/index.ts';
import { claudeTesting } from '../src/testing/index.ts';

const apiKey = 'sk-ant-test-0123456789';
let answer: ScriptAnswer = scriptResponse(['']);
let service: Loopback;

beforeAll(async () => {
  service = await serveLoopback(
    wireServer(claudeTesting, () => replies(answer, { chunks: { size: 61 } })).handler,
  );
});

afterAll(() => service.close());

/** Returns the message that the vendor's stream helper reads. */
async function theirs(): Promise<Message> {
  const client = new Anthropic({ apiKey, baseURL: service.url, maxRetries: 0, logLevel: 'off' });
  const stream = client.messages.stream({
    model: 'claude-sonnet-5-5',
    max_tokens: 1000,
    messages: [{ role: 'user', content: 'Hello.' }],
  });
  return stream.finalMessage();
}

function ours(): Promise<ModelResponse> {
  return createClaude({ apiKey, baseURL: service.url, env: {} }).run({
    messages: [userMessage('Hello.')],
    tools: [],
  });
}

/** Compares both responses in the same form. Our fold omits empty text blocks. */
async function compare(): Promise<void> {
  const [message, response] = await Promise.all([theirs(), ours()]);
  expect(response.message.content.map(blockOf)).toEqual(
    message.content
      .filter((block) => block.type !== 'text' || block.text !== '')
      .map((block) => {
        const { type } = block;
        if (type === 'text') return { type, text: block.text };
        if (type === 'thinking') return { type, thinking: block.thinking, signature: block.signature };
        if (type === 'tool_use') return { type, id: block.id, name: block.name, input: block.input };
        return block;
      }),
  );
  const { usage } = message;
  const read = usage.cache_read_input_tokens ?? 0;
  const written = usage.cache_creation_input_tokens ?? 0;
  expect(response.usage).toEqual({
    inputTokens: usage.input_tokens + read + written,
    outputTokens: usage.output_tokens,
    ...(usage.cache_read_input_tokens !== null && { cacheReadTokens: read }),
    ...(usage.cache_creation_input_tokens !== null && { cacheWriteTokens: written }),
    ...(usage.output_tokens_details !== null && {
      reasoningTokens: usage.output_tokens_details.thinking_tokens,
    }),
  });
  expect(response.model).toBe(message.model);
  expect(response.stopReason).toBe(message.stop_reason === 'tool_use' ? 'tool_use' : 'complete');
}

function blockOf(part: AssistantPart): unknown {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'reasoning':
      return {
        type: 'thinking',
        thinking: part.text,
        signature: '',
        ...(part.seal?.data as object | undefined),
      };
    case 'tool_call':
      return { type: 'tool_use', id: part.id, name: part.toolName, input: part.arguments };
    case 'opaque':
      return part.seal.data;
  }
}

test('reads a response with reasoning, text and calls like the vendor’s stream helper', async () => {
  answer = scriptResponse(
    [
      { type: 'reasoning', text: 'First 漢字, then 🧵.', seal: 'opaque "bytes" ÿ' },
      { type: 'reasoning', text: '', seal: 'thought, but not shown' },
      'Let me look.\r\n',
      callBlock('toolu_1', 'look_up', { word: 'aïe', deep: [{ a: null }, -1.5e-3, { 'a.b': '}]}' }] }),
      callBlock('toolu_2', 'put', ''),
    ],
    {
      usage: {
        inputTokens: 100,
        outputTokens: 40,
        cacheReadTokens: 60,
        cacheWriteTokens: 30,
        reasoningTokens: 12,
      },
    },
  );
  await compare();
});

test('reads random responses like the vendor’s stream helper', async () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 20 });
  const block: fc.Arbitrary<ScriptBlock> = fc.oneof(
    fc.record({ type: fc.constant('text' as const), text }),
    fc.record({ type: fc.constant('reasoning' as const), text, seal: text }),
    fc
      .record({ id: fc.uuid(), value: fc.jsonValue({ noUnicodeString: false }) })
      .map(({ id, value }) => callBlock(`toolu_${id}`, 'put', { value })),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(block, { maxLength: 5 }), async (blocks) => {
      // A response without text or calls would not be complete.
      answer = scriptResponse([...blocks, 'Done.']);
      await compare();
    }),
    { numRuns: 25, seed: 20_261_121 },
  );
}, 120_000);

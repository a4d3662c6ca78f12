import type { ModelResponse } from '@cobbler/agent';
import { userMessage } from '@cobbler/agent';
import type { ScriptAnswer } from '@cobbler/agent/testing';
import { callBlock, replies, scriptResponse } from '@cobbler/agent/testing';
import OpenAI from 'openai';
import type { ChatCompletion } from 'openai/resources/chat/completions/completions';
import type { Response } from 'openai/resources/responses/responses';
import { describe, expect, test } from 'vitest';
import { createOpenAI } from '../src/index.ts';
import { chatTesting, responsesTesting } from '../src/testing/index.ts';
import { withService } from './service.ts';

/** The data of a response to compare, read by this package or by the SDK. */
interface Reading {
  readonly text: string;
  readonly calls: readonly { readonly id: string; readonly name: string; readonly arguments: unknown }[];
  readonly stop: string;
  readonly input: number | undefined;
  readonly output: number | undefined;
  readonly cached: number | undefined;
  readonly reasoned: number | undefined;
  readonly model: string;
  readonly seals: readonly unknown[];
}

const usage = {
  inputTokens: 321,
  outputTokens: 54,
  cacheReadTokens: 200,
  cacheWriteTokens: 7,
  reasoningTokens: 32,
};
const odd = 'Wörter: 漢字 🧵 \u2028 "quotes" \\ and\r\nlines';

const answers: Readonly<Record<string, ScriptAnswer>> = {
  'a text': scriptResponse(['The answer.'], { usage }),
  'special characters': scriptResponse([odd], { usage }),
  'a text and parallel calls': scriptResponse(
    [
      'I look.',
      callBlock('call_1', 'one', { [odd]: odd }),
      callBlock('call_2', 'two', { n: [1, { a: null }] }),
    ],
    { usage },
  ),
  'a call without arguments': scriptResponse([callBlock('call_1', 'one', '{}')], { usage }),
  'a response truncated by its limit': scriptResponse(['As far as'], { usage, stop: 'max_tokens' }),
  'a filtered response': scriptResponse(['I will'], { usage, stop: 'refusal' }),
  'no content': scriptResponse([], { usage: { ...usage, outputTokens: 3, reasoningTokens: 0 } }),
};

const messages = [userMessage('Go.')];

function readingOf(response: ModelResponse): Reading {
  return {
    text: response.content,
    calls: response.toolCalls.map((call) => ({
      id: call.id,
      name: call.toolName,
      arguments: call.arguments,
    })),
    stop: response.stopReason,
    input: response.usage.inputTokens,
    output: response.usage.outputTokens,
    cached: response.usage.cacheReadTokens,
    reasoned: response.usage.reasoningTokens,
    model: response.model,
    seals: response.message.content.flatMap((part) => (part.type === 'reasoning' ? [part.seal?.data] : [])),
  };
}

describe('reads the Responses mock like the SDK [P1]', () => {
  const thinking = scriptResponse(
    [
      { type: 'reasoning', text: 'Let me think.', seal: 'sealed/+=' },
      { type: 'reasoning', text: '', seal: 'again' },
      'Done.',
      callBlock('call_1', 'one', { n: 1 }),
      'And more.',
    ],
    { usage },
  );

  function readingOfSdk(response: Response): Reading {
    const calls = response.output.filter((item) => item.type === 'function_call');
    const reason = response.incomplete_details?.reason;
    const ended = calls.length > 0 ? 'tool_use' : 'complete';
    const stops: Readonly<Record<string, string>> = {
      max_output_tokens: 'max_tokens',
      content_filter: 'refusal',
    };
    return {
      text: response.output_text,
      calls: calls.map((call) => ({
        id: call.call_id,
        name: call.name,
        arguments: JSON.parse(call.arguments),
      })),
      stop: reason === undefined ? ended : (stops[reason] ?? 'unknown'),
      input: response.usage?.input_tokens,
      output: response.usage?.output_tokens,
      cached: response.usage?.input_tokens_details.cached_tokens,
      reasoned: response.usage?.output_tokens_details.reasoning_tokens,
      model: response.model,
      seals: response.output.filter((item) => item.type === 'reasoning'),
    };
  }

  test.each(Object.entries({ ...answers, thinking }))('%s', async (_, answer) => {
    await withService(responsesTesting, [replies(answer), replies(answer)], async ({ url, exchanges }) => {
      const agent = createOpenAI({ api: 'responses', baseURL: url, apiKey: 'sk-test' });
      const ours = await agent.run({ messages, tools: [] });
      const client = new OpenAI({ apiKey: 'sk-test', baseURL: url, maxRetries: 0 });
      const body = JSON.parse(exchanges[0]?.text ?? '') as OpenAI.Responses.ResponseCreateParamsStreaming;
      const theirs = await client.responses.stream(body).finalResponse();
      expect(readingOf(ours)).toEqual(readingOfSdk(theirs));
      expect(theirs.output).toHaveLength(answer.blocks.length);
    });
  });
});

describe('reads the Chat Completions mock like the SDK [P1]', () => {
  function readingOfSdk(completion: ChatCompletion): Reading {
    const [choice] = completion.choices;
    const stops: Readonly<Record<string, string>> = {
      stop: 'complete',
      length: 'max_tokens',
      tool_calls: 'tool_use',
      content_filter: 'refusal',
    };
    const calls = (choice?.message.tool_calls ?? []).filter((call) => call.type === 'function');
    return {
      text: choice?.message.content ?? '',
      calls: calls.map((call) => ({
        id: call.id,
        name: call.function.name,
        arguments: JSON.parse(call.function.arguments),
      })),
      stop: stops[choice?.finish_reason ?? ''] ?? 'unknown',
      input: completion.usage?.prompt_tokens,
      output: completion.usage?.completion_tokens,
      cached: completion.usage?.prompt_tokens_details?.cached_tokens,
      reasoned: completion.usage?.completion_tokens_details?.reasoning_tokens,
      model: completion.model,
      seals: [],
    };
  }

  test.each(Object.entries(answers))('%s', async (_, answer) => {
    await withService(chatTesting, [replies(answer), replies(answer)], async ({ url, exchanges }) => {
      const ours = await createOpenAI({ baseURL: url, model: 'llama3.3' }).run({ messages, tools: [] });
      const client = new OpenAI({ apiKey: 'sk-test', baseURL: url, maxRetries: 0 });
      const body = JSON.parse(exchanges[0]?.text ?? '') as OpenAI.Chat.ChatCompletionCreateParamsStreaming;
      const theirs = await client.chat.completions.stream(body).finalChatCompletion();
      expect(readingOf(ours)).toEqual(readingOfSdk(theirs));
    });
  });
});

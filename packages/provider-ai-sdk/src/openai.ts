/**
 * OpenAI through the AI SDK's OpenAI provider, as options for `createAiSdk`.
 *
 * @module
 */

import { createOpenAI } from '@ai-sdk/openai';
import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { oneOf, read, record } from '@cobbler/agent/input';
import type { FactoryConfig } from '@cobbler/agent/provider';
import { configReaders, isObject } from '@cobbler/agent/provider';
import type { AiSdkOptions } from './create-ai-sdk.ts';
import type { SendingOptions, ServiceDescription } from './settings.ts';
import { accountOf, modelNameOf, sharedOptions } from './settings.ts';
import { parsedFields, textIn } from './values/fields.ts';

/** Options of {@link openaiModel} besides those of every service. */
export interface OpenAIModelOptions extends SendingOptions {
  /**
   * API to use. Default: `responses` at OpenAI, and `chat` with any other `baseURL`, because compatible servers
   * support it.
   */
  readonly api?: 'responses' | 'chat';
}

const service: ServiceDescription = {
  name: 'OpenAI',
  prefix: 'OPENAI',
  url: 'https://api.openai.com/v1',
  keylessElsewhere: true,
};

const defaultModel = 'gpt-5.5';

const readOptions = record<FactoryConfig & OpenAIModelOptions>({
  ...configReaders,
  api: oneOf('responses', 'chat'),
});

/**
 * Returns options for `createAiSdk` that use a model of OpenAI, or of a compatible server, through the AI SDK. The
 * key defaults to OPENAI_API_KEY and the model to OPENAI_MODEL, or `gpt-5.5`. OpenAI stores nothing: the model's
 * reasoning is received encrypted and sent back unchanged.
 *
 * @throws AgentError `invalid` with code `no_key`, `bad_key` or `bad_url`.
 */
export function openaiModel(options: FactoryConfig & OpenAIModelOptions = {}): AiSdkOptions {
  const config = read(options, readOptions);
  const account = accountOf(config, service);
  const { baseURL, apiKey = 'none', isOfficial } = account;
  const model = modelNameOf(config, service, defaultModel);
  const api = config.api ?? (isOfficial ? 'responses' : 'chat');
  return {
    ...sharedOptions(config, account),
    capabilities: { sampling: !reasons(model), reasoning: api === 'responses' && reasons(model) },
    resultFiles: api === 'chat' ? 'behind' : 'inside',
    ...(api === 'responses' && { providerOptions: { openai: { store: false } } }),
    model: ({ fetch, call }) =>
      api === 'chat'
        ? createOpenAI({ apiKey, baseURL, fetch }).chat(model)
        : createOpenAI({ apiKey, baseURL, fetch: completed(fetch, call) }).responses(model),
  };
}

/**
 * Returns true for reasoning models, which reject a temperature: the o series, the codex models, and GPT-5 and later.
 */
function reasons(model: string): boolean {
  return /^(o\d|codex|gpt-([5-9]|\d\d)(?!.*chat))/.test(model);
}

/**
 * Adds to a Responses API request the data that the SDK omits. If nothing is stored, the SDK sends messages without
 * their ids, and the service then misses the item that follows a reasoning item. It also loses the name of a tool
 * that has the name of an inherited object property.
 */
function completed(
  fetch: typeof globalThis.fetch,
  call: LanguageModelV4CallOptions,
): typeof globalThis.fetch {
  return (input, init) =>
    typeof init?.body === 'string'
      ? fetch(input, { ...init, body: completedBody(init.body, call) })
      : fetch(input, init);
}

function completedBody(body: string, { prompt }: LanguageModelV4CallOptions): string {
  const request = parsedFields(body);
  if (!Array.isArray(request['input'])) return body;
  const parts = prompt.flatMap((message) => (message.role === 'assistant' ? message.content : []));
  const names = new Map(
    parts.flatMap((part) => (part.type === 'tool-call' ? [[part.toolCallId, part.toolName]] : [])),
  );
  const ids = parts.flatMap((part) =>
    part.type === 'text' ? [part.providerOptions?.['openai']?.['itemId']] : [],
  );
  let texts = 0;
  const items = request['input'].map((item: unknown) => {
    if (!isObject(item)) return item;
    if (item['type'] === 'function_call')
      return { ...item, name: names.get(String(item['call_id'])) ?? item['name'] };
    // One message per text, in order.
    return item['role'] === 'assistant' ? withId(item, ids[texts++]) : item;
  });
  return JSON.stringify({ ...request, input: items });
}

/** Adds an id, which only complete messages have. */
function withId(message: Readonly<Record<string, unknown>>, id: unknown): unknown {
  const { content } = message;
  if (textIn(id) === undefined || typeof content !== 'string') return message;
  return {
    ...message,
    type: 'message',
    id,
    status: 'completed',
    content: [{ type: 'output_text', text: content, annotations: [] }],
  };
}

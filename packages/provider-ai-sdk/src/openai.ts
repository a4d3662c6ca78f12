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
import { extraPlace } from './response/extra-content.ts';
import type { SendingOptions, ServiceDescription } from './settings.ts';
import { accountOf, modelNameOf, sharedOptions } from './settings.ts';
import type { Fields } from './values/fields.ts';
import { fieldsOf, listIn, parsedFields, textIn } from './values/fields.ts';

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
        ? createOpenAI({
            apiKey,
            baseURL,
            fetch: isOfficial ? fetch : completed(fetch, call, withExtras),
          }).chat(model)
        : createOpenAI({ apiKey, baseURL, fetch: completed(fetch, call, withNames) }).responses(model),
  };
}

/** Returns true for reasoning models, which reject a temperature: the o series, the codex models, and GPT-5 and later. */
function reasons(model: string): boolean {
  return /^(o\d|codex|gpt-([5-9]|\d\d)(?!.*chat))/.test(model);
}

type Complete = (request: Fields, prompt: LanguageModelV4CallOptions['prompt']) => Fields;

/** Returns a fetch that adds to each request the data that the SDK omits. */
function completed(
  fetch: typeof globalThis.fetch,
  { prompt }: LanguageModelV4CallOptions,
  complete: Complete,
): typeof globalThis.fetch {
  return (input, init) =>
    typeof init?.body === 'string'
      ? fetch(input, { ...init, body: JSON.stringify(complete(parsedFields(init.body), prompt)) })
      : fetch(input, init);
}

/** Adds to a Chat Completions request the `extra_content` of the calls, which compatible services expect back. */
function withExtras(request: Fields, prompt: LanguageModelV4CallOptions['prompt']): Fields {
  const { provider, field } = extraPlace;
  const extras = new Map(
    partsOf(prompt).flatMap((part) =>
      part.type === 'tool-call' ? [[part.toolCallId, part.providerOptions?.[provider]?.[field]]] : [],
    ),
  );
  const completeCall = (call: Fields) => {
    const extra = extras.get(String(call['id']));
    return extra === undefined ? call : { ...call, [field]: extra };
  };
  const messages = listIn(request['messages']).map(fieldsOf);
  return {
    ...request,
    messages: messages.map((message) =>
      Array.isArray(message['tool_calls'])
        ? { ...message, tool_calls: message['tool_calls'].map(fieldsOf).map(completeCall) }
        : message,
    ),
  };
}

/**
 * Adds to a Responses API request the ids of messages and the names of calls. If nothing is stored, the SDK sends messages
 * without their ids, and the service then misses the item that follows a reasoning item. It also loses the name of a tool
 * that has the name of an inherited object property.
 */
function withNames(request: Fields, prompt: LanguageModelV4CallOptions['prompt']): Fields {
  if (!Array.isArray(request['input'])) return request;
  const parts = partsOf(prompt);
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
  return { ...request, input: items };
}

function partsOf(prompt: LanguageModelV4CallOptions['prompt']) {
  return prompt.flatMap((message) => (message.role === 'assistant' ? message.content : []));
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

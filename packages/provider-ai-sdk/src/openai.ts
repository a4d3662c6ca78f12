/**
 * OpenAI through the AI SDK's provider, for the options of `createAiSdk`.
 *
 * @module
 */

import { createOpenAI } from '@ai-sdk/openai';
import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import type { FactoryConfig } from '@cobbler/agent/provider';
import type { AiSdkOptions } from './create-ai-sdk.ts';
import type { SendingOptions, ServiceDescription } from './settings.ts';
import { accountOf, modelNameOf, sharedOptions } from './settings.ts';
import { isFields, parsedFields, textIn } from './values/fields.ts';

/** OpenAI options besides those of every service. */
export interface OpenAIModelOptions extends SendingOptions {
  /** `responses` is the default at OpenAI, `chat` with any other `baseURL`: it is what compatible servers speak. */
  readonly api?: 'responses' | 'chat';
}

const service: ServiceDescription = {
  name: 'OpenAI',
  prefix: 'OPENAI',
  url: 'https://api.openai.com/v1',
  keylessElsewhere: true,
};

const defaultModel = 'gpt-5.5';

/**
 * OpenAI's models, and those of servers that speak its language, by the AI SDK, for `createAiSdk`. The key is the one
 * given or OPENAI_API_KEY, the model the one given, OPENAI_MODEL, or `gpt-5.5`. Nothing is kept at OpenAI: the
 * model's reasoning comes encrypted and goes back as it came.
 *
 * @throws AgentError `invalid` with code `no_key`, `bad_key` or `bad_url`.
 */
export function openaiModel(config: FactoryConfig & OpenAIModelOptions = {}): AiSdkOptions {
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

/** The o series, the codex models and GPT-5 and later reason, and refuse a temperature. */
function reasons(model: string): boolean {
  return /^(o\d|codex|gpt-([5-9]|\d\d)(?!.*chat))/.test(model);
}

/**
 * Puts into a request of the Responses API what the SDK leaves out of it. When nothing is stored it sends messages
 * without their ids, and the service then misses what a reasoning item led to; and it loses the name of a tool that is
 * named like something every object inherits.
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
    if (!isFields(item)) return item;
    if (item['type'] === 'function_call')
      return { ...item, name: names.get(String(item['call_id'])) ?? item['name'] };
    // One message for each text, in their order.
    return item['role'] === 'assistant' ? withId(item, ids[texts++]) : item;
  });
  return JSON.stringify({ ...request, input: items });
}

/** Only whole messages have ids. */
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

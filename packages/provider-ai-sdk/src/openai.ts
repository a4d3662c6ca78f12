/**
 * OpenAI through the AI SDK's provider, for the options of `createAiSdk`.
 *
 * @module
 */

import { createOpenAI } from '@ai-sdk/openai';
import type { FactoryConfig } from '@cobbler/agent/provider';
import type { AiSdkOptions } from './create-ai-sdk.ts';
import { completed } from './openai-body.ts';
import type { SendingOptions, ServiceDescription } from './settings.ts';
import { accountOf, modelNameOf, sharedOptions } from './settings.ts';

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

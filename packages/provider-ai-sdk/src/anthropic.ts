/**
 * Claude through the AI SDK's Anthropic provider, as options for `createAiSdk`.
 *
 * @module
 */

import { createAnthropic } from '@ai-sdk/anthropic';
import type { FilePart } from '@cobbler/agent';
import { read } from '@cobbler/agent/input';
import type { FactoryConfig } from '@cobbler/agent/provider';
import { fileKind } from '@cobbler/agent/provider';
import type { AiSdkOptions } from './create-ai-sdk.ts';
import type { SendingOptions, ServiceDescription } from './settings.ts';
import { accountOf, modelNameOf, readSending, sharedOptions } from './settings.ts';

const service: ServiceDescription = {
  name: 'Anthropic',
  prefix: 'ANTHROPIC',
  url: 'https://api.anthropic.com',
  keylessElsewhere: false,
};

const defaultModel = 'claude-haiku-4-5';

/**
 * Returns options for `createAiSdk` that use an Anthropic model through the AI SDK. The key defaults to
 * ANTHROPIC_API_KEY and the model to ANTHROPIC_MODEL, or `claude-haiku-4-5`.
 *
 * @throws AgentError `invalid` with code `no_key`, `bad_key` or `bad_url`.
 */
export function anthropicModel(options: FactoryConfig & SendingOptions = {}): AiSdkOptions {
  const config = read(options, readSending);
  const account = accountOf(config, service);
  const { baseURL, apiKey = '' } = account;
  const model = modelNameOf(config, service, defaultModel);
  return {
    ...sharedOptions(config, account),
    titledShapes: true,
    refuses: refusedByAnthropic,
    // The SDK expects the API version in the base URL.
    model: ({ fetch }) =>
      createAnthropic({ apiKey, baseURL: `${baseURL.replace(/\/v1$/, '')}/v1`, fetch })(model),
  };
}

/** Maximum file sizes in base64. A request is limited to 32 MB, including everything besides its files. */
const maxImageBytes = 5 * 1024 * 1024;
const maxDocumentBytes = 30_000_000;

function refusedByAnthropic({ mediaType, data }: FilePart): string | undefined {
  if (fileKind(mediaType) === 'image')
    return data.length > maxImageBytes ? 'images over 5 MB in base64' : undefined;
  return data.length > maxDocumentBytes ? 'documents over 30 MB in base64' : undefined;
}

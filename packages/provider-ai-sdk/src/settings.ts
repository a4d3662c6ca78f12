import type { Environment } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';
import type { Reader } from '@cobbler/agent/input';
import { record } from '@cobbler/agent/input';
import type { FactoryConfig, ServiceConfig } from '@cobbler/agent/provider';
import { cleanKey, configReaders } from '@cobbler/agent/provider';
import { defined } from '@cobbler/agent/values';
import type { AiSdkOptions } from './create-ai-sdk.ts';

/** Options of individual services besides those of every provider. */
export type SendingOptions = Pick<ServiceConfig, 'timeouts' | 'retry' | 'transport'>;

/** Reads the options of individual services. */
export const readSending: Reader<FactoryConfig & SendingOptions> = record<FactoryConfig & SendingOptions>(
  configReaders,
);

/** Names and addresses used to find the configuration of a service. */
export interface ServiceDescription {
  /** Display name. */
  readonly name: string;
  /** Prefix of its environment variables, such as `OPENAI`. */
  readonly prefix: string;
  readonly url: string;
  /** True if servers at other addresses need no key. */
  readonly keylessElsewhere: boolean;
}

/** Address of the requests and the key for them. */
export interface ServiceAccount {
  readonly baseURL: string;
  readonly apiKey: string | undefined;
  readonly isOfficial: boolean;
}

/** Time limit for the headers of servers at other addresses, which may load the model first, in milliseconds. */
const compatibleHeadersMs = 600_000;

/** Finds the key and the address in the configuration or the environment. */
export function accountOf(config: FactoryConfig, service: ServiceDescription): ServiceAccount {
  const { prefix, name } = service;
  if (config.search)
    throw invalid(
      'unsupported',
      'The search option does not work through the AI SDK. Use the package provider-claude or provider-openai.',
    );
  const env = config.env ?? processEnvironment();
  const baseURL = addressOf(config.baseURL ?? env[`${prefix}_BASE_URL`], service);
  const isOfficial = baseURL === service.url;
  const apiKey = cleanKey(config.apiKey) ?? cleanKey(env[`${prefix}_API_KEY`]);
  if (apiKey === undefined && (isOfficial || !service.keylessElsewhere))
    throw invalid('no_key', `There is no API key for ${name}. Set ${prefix}_API_KEY, or pass \`apiKey\`.`);
  // A header cannot contain other characters, and code that rejects it later would show the key.
  if (apiKey !== undefined && !/^[\x21-\x7e]+$/.test(apiKey))
    throw invalid(
      'bad_key',
      `The API key for ${name} contains a space, a line break or another invalid character. Copy it again.`,
    );
  return { baseURL, apiKey, isOfficial };
}

/** Returns the model of the configuration or the environment, otherwise the default. */
export function modelNameOf(
  config: FactoryConfig,
  { prefix }: ServiceDescription,
  defaultModel: string,
): string {
  const env = config.env ?? processEnvironment();
  return config.model?.trim() || env[`${prefix}_MODEL`]?.trim() || defaultModel;
}

/** Returns the options that are the same for every service. */
export function sharedOptions(
  config: FactoryConfig & SendingOptions,
  { baseURL, apiKey, isOfficial }: ServiceAccount,
): Omit<AiSdkOptions, 'model'> {
  const { maxTokens, temperature, effort, requestTimeout, retryFor, runtime, retry, transport } = config;
  return {
    baseURL,
    secrets: apiKey === undefined ? [] : [apiKey],
    timeouts: { ...(!isOfficial && { headersMs: compatibleHeadersMs }), ...config.timeouts },
    ...defined({ maxTokens, temperature, effort, requestTimeout, retryFor, runtime, retry, transport }),
  };
}

function addressOf(given: string | undefined, { url }: ServiceDescription): string {
  const address = given?.trim() ?? '';
  if (address === '') return url;
  if (!URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol))
    throw invalid('bad_url', `The base URL ${JSON.stringify(address)} is not an http or https URL.`);
  return address.replace(/\/+$/, '');
}

function invalid(code: string, message: string): AgentError {
  return new AgentError({ kind: 'invalid', code, message, provider: 'ai-sdk' });
}

/** Returns the environment, which not every runtime has. */
function processEnvironment(): Environment {
  const { process } = globalThis as { process?: { env?: Environment } };
  return process?.env ?? {};
}

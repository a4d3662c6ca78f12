import type { Environment } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';
import type { FactoryConfig, RetryPolicy, Timeouts, Transport } from '@cobbler/agent/provider';
import { cleanKey } from '@cobbler/agent/provider';
import { defined } from '@cobbler/agent/values';
import type { AiSdkOptions } from './create-ai-sdk.ts';

/** Options of single services besides those of every provider. */
export interface SendingOptions {
  readonly timeouts?: Partial<Timeouts>;
  readonly retry?: Partial<RetryPolicy>;
  readonly transport?: Transport;
}

/** Where a service is looked for. */
export interface ServiceDescription {
  /** For people. */
  readonly name: string;
  /** Beginning of the names of its variables, such as `OPENAI`. */
  readonly prefix: string;
  readonly url: string;
  /** True if servers at another address need no key. */
  readonly keylessElsewhere: boolean;
}

/** Where requests go and with which key. */
export interface ServiceAccount {
  readonly baseURL: string;
  readonly apiKey: string | undefined;
  readonly isOfficial: boolean;
}

/** Headers may take long at another address: a local server loads its model first. */
const patientHeadersMs = 600_000;

/** Finds key and address in the configuration, else in the environment. */
export function accountOf(config: FactoryConfig, service: ServiceDescription): ServiceAccount {
  const { prefix, name } = service;
  const env = config.env ?? processEnvironment();
  const baseURL = addressOf(config.baseURL ?? env[`${prefix}_BASE_URL`], service);
  const isOfficial = baseURL === service.url;
  const apiKey = cleanKey(config.apiKey) ?? cleanKey(env[`${prefix}_API_KEY`]);
  if (apiKey === undefined && (isOfficial || !service.keylessElsewhere))
    throw invalid('no_key', `There is no API key for ${name}. Set ${prefix}_API_KEY, or pass \`apiKey\`.`);
  // A header cannot carry anything else, and what refuses it later would name the key.
  if (apiKey !== undefined && !/^[\x21-\x7e]+$/.test(apiKey))
    throw invalid(
      'bad_key',
      `The API key for ${name} contains a space, a line break or a character that keys do not have. Copy it again.`,
    );
  return { baseURL, apiKey, isOfficial };
}

/** The model that is asked for, by the configuration or the environment. */
export function modelNameOf(config: FactoryConfig, { prefix }: ServiceDescription, usual: string): string {
  const env = config.env ?? processEnvironment();
  return config.model?.trim() || env[`${prefix}_MODEL`]?.trim() || usual;
}

/** Configuration that is the same for every service. */
export function sharedOptions(
  config: FactoryConfig & SendingOptions,
  { baseURL, apiKey, isOfficial }: ServiceAccount,
): Omit<AiSdkOptions, 'model'> {
  const { maxTokens, temperature, requestTimeout, retryFor, runtime, retry, transport } = config;
  return {
    baseURL,
    secrets: apiKey === undefined ? [] : [apiKey],
    timeouts: { ...(!isOfficial && { headersMs: patientHeadersMs }), ...config.timeouts },
    ...defined({ maxTokens, temperature, requestTimeout, retryFor, runtime, retry, transport }),
  };
}

function addressOf(given: string | undefined, { url }: ServiceDescription): string {
  const address = given?.trim() ?? '';
  if (address === '') return url;
  if (!URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol))
    throw invalid('bad_url', `The base URL ${JSON.stringify(address)} is not an http or https address.`);
  return address.replace(/\/+$/, '');
}

function invalid(code: string, message: string): AgentError {
  return new AgentError({ kind: 'invalid', code, message, provider: 'ai-sdk' });
}

/** Not every runtime has one. */
function processEnvironment(): Environment {
  const { process } = globalThis as { process?: { env?: Environment } };
  return process?.env ?? {};
}

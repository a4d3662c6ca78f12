import type { Agent, Environment } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';
import type { Readers } from '@cobbler/agent/input';
import { oneOf, read, record } from '@cobbler/agent/input';
import type { Endpoint, FactoryConfig, ServiceConfig, Wire } from '@cobbler/agent/provider';
import { cleanKey, configReaders, createAgent } from '@cobbler/agent/provider';
import { defined } from '@cobbler/agent/values';
import type { Thinking } from './envelope.ts';
import { claudeCache, defaultMaxTokens, writeEnvelope } from './envelope.ts';
import { readFault } from './fault.ts';
import { acceptedFiles, refusedFile } from './media.ts';
import { claudeModel, defaultModel, modelId, thinkingTraits } from './models.ts';
import { ignored, readEvent, readUsual } from './stream-event.ts';
import { writeTurn } from './turn.ts';

/** Default base URL, unless the configuration or ANTHROPIC_BASE_URL sets another. */
const serviceURL = 'https://api.anthropic.com';

/** Time limit for the headers of servers at other addresses, which may load the model first, in milliseconds. */
const compatibleHeadersMs = 600_000;

/** Settings specific to Claude. */
export interface ClaudeOptions extends Pick<ServiceConfig, 'timeouts' | 'retry' | 'transport'> {
  /** Thinking mode. Default `summarized`. */
  readonly thinking?: Thinking;
}

/**
 * Creates an agent for Anthropic's Messages API. The key defaults to ANTHROPIC_API_KEY.
 *
 * @throws AgentError `invalid`: code `no_key` without a key, `bad_key` for an invalid key, `bad_url` for an invalid
 * address, `no_sampling` for a temperature, which this API no longer accepts.
 */
export function createClaude(options: FactoryConfig & ClaudeOptions = {}): Agent {
  const config = read(options, readOptions);
  const env = config.env ?? processEnvironment();
  const apiKey = keyOf(config.apiKey, env);
  const baseURL = addressOf(config.baseURL ?? env['ANTHROPIC_BASE_URL']);
  refuseTemperature(config.temperature);
  const model = modelId(config.model ?? defaultModel);
  const thinking = config.thinking ?? 'summarized';
  const contextTokens = claudeModel(model)?.contextTokens;
  const endpoint = () => askClient({ apiKey, baseURL });
  return createAgent(claudeWire({ endpoint, thinking, search: config.search }), {
    model,
    capabilities: {
      files: acceptedFiles,
      reasoning: thinking !== 'disabled' && thinkingTraits(model).adaptive,
      parallelCalls: true,
      output: 'native',
      sampling: false,
      cacheUsage: true,
      ...defined({ contextTokens }),
    },
    maxTokens: config.maxTokens || defaultMaxTokens,
    timeouts: {
      ...(baseURL !== serviceURL && { headersMs: compatibleHeadersMs }),
      ...defined({ totalMs: config.requestTimeout }),
      ...config.timeouts,
    },
    retry: { ...defined({ forMs: config.retryFor }), ...config.retry },
    ...defined({ effort: config.effort, runtime: config.runtime, transport: config.transport }),
  });
}

/** The readers of the options of {@link createClaude}. */
export const claudeReaders: Readers<FactoryConfig & ClaudeOptions> = {
  ...configReaders,
  thinking: oneOf('summarized', 'omitted', 'between_tools', 'disabled', 'unset'),
};

const readOptions = record<FactoryConfig & ClaudeOptions>(claudeReaders);

function keyOf(given: string | undefined, env: Environment): string {
  const key = cleanKey(given) ?? cleanKey(env['ANTHROPIC_API_KEY']);
  if (key === undefined) {
    throw invalid('no_key', 'There is no API key for Claude. Set ANTHROPIC_API_KEY, or pass `apiKey`.');
  }
  // A header cannot contain other characters, and code that rejects it later would show the key.
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw invalid(
      'bad_key',
      'The API key for Claude contains a space, a line break or another invalid character. Copy it again.',
    );
  }
  return key;
}

function addressOf(given: string | undefined): string {
  const address = given?.trim() ?? '';
  if (address === '') return serviceURL;
  if (!URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol)) {
    throw invalid('bad_url', `The base URL ${JSON.stringify(address)} is not an http or https URL.`);
  }
  return address.replace(/\/+$/, '');
}

/** Rejects a temperature: the service rejects the field for any value. */
function refuseTemperature(temperature: number | undefined): void {
  if (temperature === undefined || temperature === -1) return;
  throw invalid(
    'no_sampling',
    'Claude no longer accepts the temperature option. Remove it, or use `effort` instead.',
  );
}

function invalid(code: string, message: string): AgentError {
  return new AgentError({ kind: 'invalid', code, message, provider: 'claude' });
}

/** Returns the environment, which not every runtime has. */
function processEnvironment(): Environment {
  const { process } = globalThis as { process?: { env?: Environment } };
  return process?.env ?? {};
}

interface ClaudeWireSettings {
  readonly endpoint: Endpoint | (() => Promise<Endpoint>);
  readonly thinking: Thinking;
  readonly search?: boolean | undefined;
}

/** Creates the wire of Anthropic's Messages API, always streaming. */
export function claudeWire(settings: ClaudeWireSettings): Wire {
  return {
    provider: 'claude',
    framing: 'sse',
    endpoint: settings.endpoint,
    envelope: (request) => writeEnvelope(request, settings.thinking, settings.search),
    turn: writeTurn,
    read: readUsual,
    event: readEvent,
    ignored,
    fault: readFault,
    refuses: refusedFile,
    cache: claudeCache,
    rateLimitHeaders: ['anthropic-ratelimit-*', 'retry-after'],
    requestIdHeader: 'request-id',
  };
}

/** The credentials and address of an account. */
export interface ClaudeAccount {
  readonly apiKey: string;
  readonly baseURL: string;
}

/**
 * Prefix of the headers in which the client describes its own retries, timeouts and runtime. They are removed: the
 * client does not send the request, so they would be wrong, and the user's machine should stay private.
 */
const aboutTheClient = 'x-stainless-';

/**
 * Returns the address and headers of a request from the vendor's client, which determines how the key is sent and
 * which API version is used. The client is loaded on the first request, because loading it takes longer than the rest
 * of the startup. It receives all settings, so that it reads none from the environment, and it never sends a request.
 */
export async function askClient(account: ClaudeAccount): Promise<Endpoint> {
  const { BaseAnthropic } = await import('./client.ts');
  const client = new BaseAnthropic({
    apiKey: account.apiKey,
    baseURL: account.baseURL,
    webhookKey: null,
    maxRetries: 0,
    logLevel: 'off',
    openTelemetry: false,
  });
  const { req, url } = await client.buildRequest({ method: 'post', path: '/v1/messages' });
  const headers: Record<string, string> = {};
  // The names and values are the same as in `Headers`, whose class the bundled client does not load.
  for (const [name, value] of req.headers) if (!name.startsWith(aboutTheClient)) headers[name] = value;
  headers['accept'] = 'text/event-stream';
  headers['content-type'] = 'application/json';
  return { url, headers, secrets: [account.apiKey] };
}

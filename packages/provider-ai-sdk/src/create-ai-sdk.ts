import type { SharedV4ProviderOptions } from '@ai-sdk/provider';
import type { Agent, AgentConfig, Capabilities, FilePart } from '@cobbler/agent';
import { systemRuntime } from '@cobbler/agent';
import { any, callable, data, flag, listOf, oneOf, read, record, text, when } from '@cobbler/agent/input';
import type { CreateAgentOptions } from '@cobbler/agent/provider';
import { configReaders, createAgent, isObject, platformTransport } from '@cobbler/agent/provider';
import { defined } from '@cobbler/agent/values';
import type { ModelSource } from './http/model-source.ts';
import { modelOf, opener } from './http/model-source.ts';
import type { ResultFiles } from './request/prompt.ts';
import { aiSdkWire } from './wire.ts';

/** Options of {@link createAiSdk}: a language model of the AI SDK and the settings of its requests. */
export interface AiSdkOptions
  extends Omit<CreateAgentOptions, 'model' | 'capabilities'>,
    Pick<AgentConfig, 'requestTimeout' | 'retryFor'> {
  /**
   * Creates the model with the given connection, such as `({ fetch }) => createAnthropic({ apiKey, fetch
   * })('claude-haiku-4-5')`. An existing model is also accepted, but sends its own requests: connection details are
   * then known only as far as the SDK reports them.
   */
  readonly model: ModelSource;
  /** Capabilities of the model. Default: all except a temperature; the service rejects what the model does not support. */
  readonly capabilities?: Partial<Capabilities>;
  /** Settings that the SDK's provider receives with every request, such as `{ openai: { store: false } }`. */
  readonly providerOptions?: SharedV4ProviderOptions;
  /**
   * Returns why the model does not accept this image or document, such as `images over 5 MB`; undefined if it does.
   * Default: JPEG, PNG, GIF, WebP, PDF and text are accepted.
   */
  readonly refuses?: (file: FilePart) => string | undefined;
  /** Where files in tool results are sent: `behind` for services that accept only text in results. Default `inside`. */
  readonly resultFiles?: ResultFiles;
  /** True if the name of an output schema is sent as its title, for services without a field for the name. */
  readonly titledShapes?: boolean;
  /** Address that the model sends requests to, if known, for error messages. */
  readonly baseURL?: string;
  /** Strings that must never appear in an error, such as the API keys of the model. */
  readonly secrets?: readonly string[];
}

/** Media types that every SDK service with file support accepts. */
const acceptedFiles: readonly string[] = [
  'image/jpeg',
  'image/png',
  'image/gif',
  'image/webp',
  'application/pdf',
  'text/*',
  'application/json',
];

const capabilities: Capabilities = {
  files: acceptedFiles,
  reasoning: true,
  parallelCalls: true,
  output: 'native',
  sampling: false,
  cacheUsage: true,
};

const { provider: _, model: __, search: ___, apiKey: ____, env: _____, ...readers } = configReaders;

const object = when<Partial<Capabilities>>(isObject, 'an object');

const readOptions = record<AiSdkOptions>({
  ...readers,
  // `modelOf` checks the model, and `createAgent` reads the capabilities.
  model: any,
  capabilities: (value) => ({ ...object(value) }),
  providerOptions: data,
  refuses: callable,
  resultFiles: oneOf('inside', 'behind'),
  titledShapes: flag,
  secrets: listOf(text),
});

/**
 * Creates an agent from any language model of the AI SDK. The SDK writes the request and reads the response; Cobbler
 * sends requests, applies timeouts, retries and reports errors, as for every provider.
 *
 * @throws AgentError `invalid` with code `bad_model` if it is not a model of version 4 of the SDK's interface.
 */
export function createAiSdk(given: AiSdkOptions): Agent {
  const options = read(given, readOptions);
  const { runtime = systemRuntime, transport = platformTransport(runtime) } = options;
  const open = opener(options.model);
  const { provider: service, modelId: model } =
    typeof options.model === 'function'
      ? modelOf(open)
      : read(options.model, () => modelOf(open), 'options.model');
  const provider = `ai-sdk.${service}`;
  const baseURL = options.baseURL ?? placeholderAddress(service);
  const wire = aiSdkWire({ ...options, provider, open, transport, baseURL });
  return createAgent(wire, {
    model,
    capabilities: { ...capabilities, ...options.capabilities },
    runtime,
    timeouts: { ...defined({ totalMs: options.requestTimeout }), ...options.timeouts },
    ...defined({ maxTokens: options.maxTokens, temperature: options.temperature, effort: options.effort }),
    retry: { ...defined({ forMs: options.retryFor }), ...options.retry },
  });
}

/** Returns an address made from the SDK's name for the service, for error messages when the real address is unknown. */
function placeholderAddress(service: string): string {
  return `https://${service.toLowerCase().replace(/[^a-z0-9.-]/g, '-')}`;
}

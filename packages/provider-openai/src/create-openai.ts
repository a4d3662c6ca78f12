import type { Agent, Capabilities, ErrorData } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';
import type { Readers } from '@cobbler/agent/input';
import { oneOf, read, record } from '@cobbler/agent/input';
import type { FactoryConfig, ServiceConfig } from '@cobbler/agent/provider';
import { configReaders, createAgent } from '@cobbler/agent/provider';
import { defined } from '@cobbler/agent/values';
import { chatWire } from './chat/wire.ts';
import type { OpenAIApi } from './endpoint.ts';
import { addressOf } from './endpoint.ts';
import { acceptedFiles } from './media.ts';
import { contextTokens, defaultModel, providerName, reasons, resolveModel } from './models.ts';
import type { ResponsesOptions } from './responses/wire.ts';
import { responsesWire } from './responses/wire.ts';

/** OpenAI options besides those of every provider. */
export interface OpenAIOptions
  extends ResponsesOptions,
    Pick<ServiceConfig, 'timeouts' | 'retry' | 'transport'> {
  /**
   * API to use. `responses` preserves the model's reasoning between requests and is the default at OpenAI. `chat` is
   * supported by compatible servers (Ollama, vLLM, llama.cpp and others) and is the default with any other `baseURL`.
   */
  readonly api?: OpenAIApi;
}

/** Time limit for the headers of servers at other addresses, which may load the model first, in milliseconds. */
const compatibleHeadersMs = 600_000;

/**
 * Creates an agent for OpenAI or a compatible server. The model is an alias (`fast`, `balanced`, `best`) or an id.
 * The key comes from `apiKey` or OPENAI_API_KEY; a compatible server needs none.
 * @throws AgentError `invalid` with code `no_key`, `bad_key` or `bad_url`.
 */
export function createOpenAI(options: FactoryConfig & OpenAIOptions = {}): Agent {
  const config = read(options, readOptions);
  const address = addressOf(config);
  const model = resolveModel(config.model ?? defaultModel);
  const api = config.api ?? (address.official ? 'responses' : 'chat');
  if (config.search && api === 'chat') throw new AgentError(noSearch);
  const wire = api === 'responses' ? responsesWire(address, model, config) : chatWire(address, model);
  return createAgent(wire, {
    model,
    capabilities: {
      ...capabilitiesOf(model),
      files: acceptedFiles(model, address.official ? api : 'compatible'),
    },
    timeouts: {
      ...(!address.official && { headersMs: compatibleHeadersMs }),
      ...defined({ totalMs: config.requestTimeout }),
      ...config.timeouts,
    },
    ...defined({ maxTokens: config.maxTokens, temperature: config.temperature, effort: config.effort }),
    retry: { ...defined({ forMs: config.retryFor }), ...config.retry },
    ...defined({ transport: config.transport, runtime: config.runtime }),
  });
}

const noSearch: ErrorData = {
  ...{ kind: 'invalid', code: 'unsupported', provider: providerName },
  message: 'Chat Completions has no web search. Remove the search option, or use the Responses API.',
};

/** The readers of the options of {@link createOpenAI}. */
export const openAIReaders: Readers<FactoryConfig & OpenAIOptions> = {
  ...configReaders,
  reasoningSummary: oneOf('auto', 'off'),
  api: oneOf('responses', 'chat'),
};

const readOptions = record<FactoryConfig & OpenAIOptions>(openAIReaders);

/**
 * Returns the capabilities of a model, derived from its name. A compatible server may support less and then rejects
 * the request with a more precise message.
 */
function capabilitiesOf(model: string): Omit<Capabilities, 'files'> {
  const window = contextTokens(model);
  return {
    reasoning: reasons(model),
    parallelCalls: true,
    output: 'native',
    sampling: !reasons(model),
    cacheUsage: true,
    ...defined({ contextTokens: window }),
  };
}

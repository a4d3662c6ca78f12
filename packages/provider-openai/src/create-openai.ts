import type { Agent, Capabilities } from '@cobbler/agent';
import type { FactoryConfig, RetryPolicy, Timeouts, Transport } from '@cobbler/agent/provider';
import { createAgent } from '@cobbler/agent/provider';
import { defined } from '@cobbler/agent/values';
import { chatWire } from './chat/wire.ts';
import { addressOf } from './endpoint.ts';
import { acceptedFiles } from './media.ts';
import { contextTokens, defaultModel, reasons, resolveModel } from './models.ts';
import type { ResponsesOptions } from './responses/wire.ts';
import { responsesWire } from './responses/wire.ts';

/** Which of OpenAI's two APIs is spoken. */
export type OpenAIApi = 'responses' | 'chat';

/** OpenAI options besides those of every provider. */
export interface OpenAIOptions extends ResponsesOptions {
  /**
   * `responses` keeps the model's reasoning between requests and is the default at OpenAI. `chat` is what
   * compatible servers speak (Ollama, vLLM, llama.cpp and others) and the default with any other `baseURL`.
   */
  readonly api?: OpenAIApi;
  readonly timeouts?: Partial<Timeouts>;
  readonly retry?: Partial<RetryPolicy>;
  /** Transport of requests. Default: the platform's fastest transport. */
  readonly transport?: Transport;
}

/** Headers may take long at another address: a local server loads its model first. */
const patientHeadersMs = 600_000;

/**
 * OpenAI, or a server that speaks its language, as an agent. The model may be an alias (`fast`, `balanced`,
 * `best`) or an id; the key comes from `apiKey` or OPENAI_API_KEY, and a compatible server needs none.
 * @throws AgentError `invalid` with code `no_key`, `bad_key` or `bad_url`.
 */
export function createOpenAI(config: FactoryConfig & OpenAIOptions = {}): Agent {
  const address = addressOf(config);
  const model = resolveModel(config.model ?? defaultModel);
  const api = config.api ?? (address.official ? 'responses' : 'chat');
  const wire = api === 'responses' ? responsesWire(address, model, config) : chatWire(address, model);
  return createAgent(wire, {
    model,
    capabilities: { ...capabilitiesOf(model), files: acceptedFiles(model, address.official) },
    timeouts: {
      ...(!address.official && { headersMs: patientHeadersMs }),
      ...defined({ totalMs: config.requestTimeout }),
      ...config.timeouts,
    },
    ...defined({ maxTokens: config.maxTokens, temperature: config.temperature }),
    retry: { ...defined({ forMs: config.retryFor }), ...config.retry },
    ...defined({ transport: config.transport, runtime: config.runtime }),
  });
}

/**
 * Capabilities of the model, derived from its name. A compatible server may support less; it then rejects the request
 * itself, with a more precise message.
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

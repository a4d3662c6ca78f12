import { defaultTransport } from '#transport';
import type { Agent, Capabilities, ModelRequest, ModelResponse, RunContext } from '../agent.ts';
import { AgentError } from '../errors.ts';
import type { RetryPolicy } from '../retry.ts';
import { defaultRetry } from '../retry.ts';
import type { Runtime } from '../runtime.ts';
import { systemRuntime } from '../runtime.ts';
import { abortError } from './abort.ts';
import { addressOf } from './address.ts';
import { demandOf } from './demand.ts';
import { EnvelopeCache } from './envelope-bytes.ts';
import { framingOf } from './framing.ts';
import { HistoryBytes } from './history-bytes.ts';
import { callModel } from './model-call.ts';
import { bodyOf, cacheMarkOf } from './request-body.ts';
import type { Timeouts } from './timeouts.ts';
import { defaultTimeouts } from './timeouts.ts';
import type { Transport } from './transport.ts';
import type { Wire } from './wire.ts';

/** How an agent over a wire behaves. */
export interface CreateAgentOptions {
  readonly model: string;
  readonly capabilities: Capabilities;
  /** Most tokens of one answer. 0 or absent: the provider's default. A request's own value wins. */
  readonly maxTokens?: number;
  /** -1 or absent: the provider's default. A request's own value wins. */
  readonly temperature?: number;
  /** Default: the real clock, randomness and network. */
  readonly runtime?: Runtime;
  /** Default: the fastest one of the platform. */
  readonly transport?: Transport;
  readonly timeouts?: Partial<Timeouts>;
  readonly retry?: Partial<RetryPolicy>;
}

/**
 * Makes an agent of a wire: everything a provider needs besides its own words. The agent keeps the bytes of
 * the conversations and tools it has sent, found again by identity, and nothing else.
 *
 * @throws AgentError `invalid` when there is no model.
 */
export function createAgent(wire: Wire, options: CreateAgentOptions): Agent {
  const { model, capabilities, runtime = systemRuntime } = options;
  const { provider } = wire;
  if (model.trim() === '') {
    throw new AgentError({ kind: 'invalid', provider, message: `No model of ${provider} is named.` });
  }
  const { images, documents } = capabilities;
  const framing = framingOf(wire.framing);
  const histories = new HistoryBytes(wire, { provider, images, documents });
  const envelopes = new EnvelopeCache(wire);
  const mark = cacheMarkOf(wire);
  const { maxTokens, temperature } = options;
  const defaults = { provider, model, capabilities, maxTokens, temperature };
  const shared = {
    wire,
    framing,
    runtime,
    model,
    transport: options.transport ?? defaultTransport(runtime),
    timeouts: { ...defaultTimeouts, ...options.timeouts },
    retry: { ...defaultRetry, ...options.retry },
    address: addressOf(wire),
    headers: { 'content-type': 'application/json', accept: framing.contentTypes.join(', ') },
  };

  async function run(request: ModelRequest, context: RunContext = {}): Promise<ModelResponse> {
    const { signal, emit } = context;
    if (signal?.aborted) throw abortError(signal, provider);
    try {
      const demand = demandOf(request, defaults);
      const envelope = envelopes.of(demand);
      const body = bodyOf(envelope, histories.of(request.messages), mark);
      const mayThink = demand.effort !== undefined;
      return await callModel({ ...shared, envelopeHeaders: envelope.headers, body, signal, emit, mayThink });
    } catch (error) {
      throw AgentError.from(error, 'invalid');
    }
  }

  return { provider, model, capabilities, run };
}

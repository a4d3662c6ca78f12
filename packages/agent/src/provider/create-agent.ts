import { defaultTransport } from '#transport';
import type {
  Agent,
  CacheBreak,
  Capabilities,
  ModelRequest,
  ModelResponse,
  RequestContext,
} from '../interfaces/agent.ts';
import type { RetryPolicy } from '../values/backoff.ts';
import { AgentError } from '../values/errors.ts';
import type { Runtime } from '../values/runtime.ts';
import { systemRuntime } from '../values/runtime.ts';
import type { ProviderContext } from './attempt.ts';
import { abortError } from './http/abort.ts';
import { addressOf } from './http/address.ts';
import type { Timeouts } from './http/timeouts.ts';
import { timeoutsOf } from './http/timeouts.ts';
import type { ModelCall } from './model-call.ts';
import { callModel } from './model-call.ts';
import { cacheBreak } from './request/cache-break.ts';
import type { TurnBytes } from './request/conversation-bytes.ts';
import type { EnvelopeBytes, EnvelopeRequest } from './request/envelope-bytes.ts';
import { EnvelopeCache, keyOf } from './request/envelope-bytes.ts';
import { HistoryBytes } from './request/history-bytes.ts';
import { Keeping } from './request/keeping.ts';
import { demandOf } from './request-defaults.ts';
import { retryPolicyOf } from './retry-policy.ts';
import { framingOf } from './wire/framing.ts';
import type { Transport } from './wire/transport.ts';
import type { CacheLifetime, PrefixCache, Wire } from './wire/wire.ts';

/** Options of {@link createAgent}. */
export interface CreateAgentOptions {
  readonly model: string;
  readonly capabilities: Capabilities;
  /**
   * Maximum number of output tokens. 0 or undefined: the provider's default. The value of a request takes precedence.
   */
  readonly maxTokens?: number;
  /** -1 or undefined: the provider's default. The value of a request takes precedence. */
  readonly temperature?: number;
  /** Default: the system clock, randomness and network. */
  readonly runtime?: Runtime;
  /** Default: the fastest transport of the platform. */
  readonly transport?: Transport;
  readonly timeouts?: Partial<Timeouts>;
  readonly retry?: Partial<RetryPolicy>;
}

/** A request that is ready to send. */
interface PreparedRequest {
  readonly envelope: EnvelopeBytes;
  readonly body: readonly Uint8Array[];
  readonly broken: CacheBreak | undefined;
}

/**
 * Creates an agent from a wire, with everything a provider needs besides its own format. The agent caches the bytes of
 * the conversations and tools that it has sent, looked up by object identity, and keeps nothing else.
 *
 * @throws AgentError `invalid` if the model is empty, or if a timeout or retry setting is not a number.
 */
export function createAgent(wire: Wire, options: CreateAgentOptions): Agent {
  const { model, capabilities, runtime = systemRuntime } = options;
  const { provider } = wire;
  if (model.trim() === '') {
    const message = `No model is specified for ${provider}. Set the option \`model\`.`;
    throw new AgentError({ kind: 'invalid', code: 'no_model', provider, message });
  }
  const framing = framingOf(wire.framing);
  const refuses = wire.refuses?.bind(wire);
  const histories = new HistoryBytes(wire, { provider, files: capabilities.files, refuses });
  const envelopes = new EnvelopeCache(wire);
  const keeping = new Keeping(wire.cache);
  const { maxTokens, temperature } = options;
  const defaults = { provider, model, capabilities, maxTokens, temperature };
  const retry = retryPolicyOf(options.retry);
  const service: ProviderContext = {
    wire,
    framing,
    runtime,
    transport: options.transport ?? defaultTransport(runtime),
    timeouts: timeoutsOf(options.timeouts),
    address: addressOf(wire),
    headers: { 'content-type': 'application/json', accept: framing.contentTypes.join(', ') },
  };

  /** Serializes a request and detects whether it invalidates the service's cache of the previous one. */
  function prepare({ messages, config }: ModelRequest, demand: EnvelopeRequest): PreparedRequest {
    const turns = histories.of(messages);
    const kept = keeping.of({
      key: keyOf(demand.tools),
      timing: turns.before?.timing,
      now: runtime.now(),
      bytes: { turns: turns.bytes.length, envelope: envelopes.lengthOf(demand.tools) },
      wanted: config?.cache !== false,
      closing: demand.toolChoice === 'none',
    });
    const keepMs = wire.cache === undefined ? {} : { keepMs: kept.envelope?.ms ?? 0 };
    const envelope = envelopes.of({ ...demand, ...keepMs });
    const mark = markOf(wire.cache, kept.turns);
    const sent = { envelope: envelope.request, bytes: turns.bytes.length, timing: kept.timing };
    turns.track.send(sent, mark !== undefined);
    const broken = turns.before && cacheBreak(turns.before, sent.envelope, turns.departure);
    return { envelope, body: bodyOf(envelope, turns, mark), broken };
  }

  function run(request: ModelRequest, context: RequestContext = {}): Promise<ModelResponse> {
    try {
      return callModel(callOf(request, context));
    } catch (error) {
      return Promise.reject(AgentError.from(error, 'invalid'));
    }
  }

  function callOf(request: ModelRequest, { signal, emit, mayRetry }: RequestContext): ModelCall {
    if (signal?.aborted) throw abortError(signal, provider);
    const demand = demandOf(request, defaults);
    const { envelope, body, broken } = prepare(request, demand);
    if (broken !== undefined) emitSafely(emit, broken);
    return {
      service,
      model,
      retry,
      mayRetry,
      signal,
      emit,
      body,
      envelopeHeaders: envelope.headers,
      mayThink: demand.effort !== undefined,
      deadline: runtime.monotonic() + service.timeouts.totalMs,
    };
  }

  return { provider, model, capabilities, ...(maxTokens && { maxTokens }), run };
}

/** Emits an event. Errors of the listener are ignored. */
function emitSafely(emit: RequestContext['emit'], event: CacheBreak): void {
  try {
    emit?.(event);
  } catch {}
}

/** The mark at the end of a cacheable prefix, and its distance in bytes from the end of its turn. */
interface CacheMark {
  readonly bytes: Uint8Array;
  readonly back: number;
}

const encoder = new TextEncoder();

/** Returns the mark for a cache lifetime as bytes, or undefined if the service needs no mark. */
function markOf(cache: PrefixCache | undefined, lifetime: CacheLifetime | undefined): CacheMark | undefined {
  if (lifetime?.mark === undefined) return undefined;
  return { bytes: encoder.encode(lifetime.mark), back: cache?.markBack ?? 0 };
}

/**
 * Returns the body of a request as byte ranges: marks are inserted between ranges of the turns, whose bytes do not
 * change.
 */
function bodyOf(envelope: EnvelopeBytes, turns: TurnBytes, mark: CacheMark | undefined): Uint8Array[] {
  const body = [envelope.head];
  let from = 0;
  if (mark !== undefined) {
    for (const end of turns.marks) {
      const place = end - mark.back;
      body.push(turns.bytes.subarray(from, place), mark.bytes);
      from = place;
    }
  }
  body.push(turns.bytes.subarray(from), envelope.tail);
  return body;
}

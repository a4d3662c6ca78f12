import { defaultTransport } from '#transport';
import { abortError } from '../interfaces/abort-error.ts';
import type {
  Agent,
  CacheBreak,
  Capabilities,
  Effort,
  ModelRequest,
  ModelResponse,
  RequestContext,
  RequestOwner,
} from '../interfaces/agent.ts';
import { stopOf } from '../interfaces/own-context.ts';
import { ownRuns } from '../interfaces/own-runs.ts';
import { AgentError, argumentError } from '../values/errors.ts';
import type { Reader } from '../values/input.ts';
import {
  signal as abortSignal,
  amount,
  flag,
  listOf,
  oneOf,
  read,
  record,
  text,
  withMethods,
} from '../values/input.ts';
import { LazyAbortSignal } from '../values/lazy-abort-signal.ts';
import type { Runtime } from '../values/runtime.ts';
import { systemRuntime } from '../values/runtime.ts';
import { noUsage } from '../values/usage.ts';
import type { ProviderContext } from './attempt.ts';
import { EndpointCache } from './http/address.ts';
import { headerPicker } from './http/headers.ts';
import { timeoutsOf } from './http/timeouts.ts';
import type { ModelCall } from './model-call.ts';
import { callModel } from './model-call.ts';
import type { ServiceConfig } from './read-config.ts';
import { configReaders } from './read-config.ts';
import { cacheBreak } from './request/cache-break.ts';
import { Keeping } from './request/cache-lifetime.ts';
import type { TurnBytes } from './request/conversation-bytes.ts';
import type { EnvelopeBytes } from './request/envelope-bytes.ts';
import { EnvelopeCache } from './request/envelope-bytes.ts';
import { HistoryBytes } from './request/history-bytes.ts';
import { checkedDefaults } from './request/request-defaults.ts';
import { retryPolicyOf } from './retry-policy.ts';
import { framingOf } from './wire/framing.ts';
import type { Transport } from './wire/transport.ts';
import type { Wire } from './wire/wire.ts';

/** Options of {@link createAgent}. */
export interface CreateAgentOptions extends Pick<ServiceConfig, 'timeouts' | 'retry' | 'transport'> {
  readonly model: string;
  readonly capabilities: Capabilities;
  /** Maximum number of output tokens. 0 or undefined: the provider's default. The value of a request takes precedence. */
  readonly maxTokens?: number;
  /** -1 or undefined: the provider's default. The value of a request takes precedence. */
  readonly temperature?: number;
  /** Undefined: the provider's default. The value of a request takes precedence. */
  readonly effort?: Effort;
  /** Default: the system clock, randomness and network. */
  readonly runtime?: Runtime;
}

const { temperature, effort, timeouts, retry, runtime, transport } = configReaders;

const agentOptions = record<CreateAgentOptions>(
  {
    model: text,
    capabilities: record<Capabilities>(
      {
        files: listOf(text),
        reasoning: flag,
        parallelCalls: flag,
        output: oneOf('native', 'tool', 'none'),
        sampling: flag,
        cacheUsage: flag,
        contextTokens: amount,
      },
      ['files', 'reasoning', 'parallelCalls', 'output', 'sampling', 'cacheUsage'],
    ),
    maxTokens: amount,
    ...{ temperature, effort, timeouts, retry, runtime, transport },
  },
  ['model', 'capabilities'],
);

/** Its other fields are checked where they are used. */
const readWire: Reader<Wire> = (value) => {
  const wire = withMethods<Wire>('envelope', 'turn', 'event', 'fault')(value);
  record({ provider: text, rateLimitHeaders: listOf(text), requestIdHeader: text }, ['provider'])(wire);
  return wire;
};

/**
 * Creates an agent from a wire, with everything a provider needs besides its own format. The agent caches the bytes of
 * the conversations and tools that it has sent, looked up by object identity, and keeps nothing else.
 *
 * @throws AgentError `invalid` if the model is empty or does not support an effort, or if a timeout or retry setting is
 * not a number.
 */
export function createAgent(wire: Wire, options: CreateAgentOptions): Agent {
  const given = read(options, agentOptions);
  const { model, capabilities, maxTokens, temperature, effort, runtime = systemRuntime } = given;
  const { provider } = read(wire, readWire, 'wire');
  if (model.trim() === '') {
    const message = `No model is specified for ${provider}. Set the option \`model\`.`;
    throw new AgentError({ kind: 'invalid', code: 'no_model', provider, message });
  }
  const framing = read(wire, () => framingOf(wire), 'wire.framing');
  const refuses = wire.refuses?.bind(wire);
  const histories = new HistoryBytes(wire, { provider, files: capabilities.files, refuses });
  const defaults = checkedDefaults({ provider, model, capabilities, maxTokens, temperature, effort });
  const envelopes = new EnvelopeCache(wire, defaults);
  const keeping = wire.cache && new Keeping(wire.cache);
  const timeouts = timeoutsOf(given.timeouts);
  const service: ProviderContext = {
    wire,
    model,
    retry: retryPolicyOf(given.retry),
    framing,
    runtime,
    transport: given.transport ?? defaultTransport(runtime),
    timeouts,
    maxTimerMs: Math.min(timeouts.headersMs, timeouts.stallMs, timeouts.progressMs, 2 ** 31 - 1),
    endpoint: new EndpointCache(wire),
    headers: { 'content-type': 'application/json', accept: framing.contentTypes.join(', ') },
    rateLimits: wire.rateLimitHeaders && headerPicker(wire.rateLimitHeaders),
  };

  const run: Agent['run'] = (request, context = {}) => promised(context, (owner) => begin(request, owner));

  function begin(request: ModelRequest, owner: RequestOwner): void {
    try {
      callModel(callOf(request, owner));
    } catch (error) {
      owner.reject(argumentError('run', error));
    }
  }

  /** Serializes a request and detects whether it invalidates the service's cache of the previous one. */
  function callOf(request: ModelRequest, owner: RequestOwner): ModelCall {
    const { stop } = owner;
    const began = runtime.monotonic();
    if (stop?.isStopRequested) throw abortError(stop.reason, provider);
    const { tools, config } = request;
    const turns = histories.of(request.messages);
    const { before, departure } = turns;
    const shared = envelopes.sharedBy(tools);
    const kept = keeping?.of({
      timing: before?.timing,
      shared,
      now: runtime.now(),
      turnBytes: turns.bytes.length,
      envelopeBytes: shared.envelopes[shared.envelopes.length - 1]?.head.length ?? 0,
      wanted: config?.cache !== false,
      closing: config?.toolChoice === 'none' && tools.length > 0,
    });
    const envelope = envelopes.of(request, kept && (kept.envelope?.ms ?? 0), shared);
    const mark = kept && keeping?.marks.get(kept.turns);
    const sent = { envelope: envelope.request, bytes: turns.bytes.length, timing: kept?.timing };
    turns.track.send(sent, mark !== undefined);
    if (before !== undefined && (departure !== undefined || before.envelope !== envelope.request))
      report(owner, cacheBreak(before, envelope.request, departure));
    return {
      service,
      owner,
      envelope,
      body: bodyOf(envelope, turns, mark, keeping?.markBack ?? 0),
      began,
      deadline: began + timeouts.totalMs,
      attempts: 1,
      wasted: noUsage,
    };
  }

  ownRuns.set(run, begin);
  return { provider, model, capabilities, ...(maxTokens && { maxTokens }), run };
}

/** Returns a promise of the outcome of a request that the owner of a context sends. */
function promised(context: RequestContext, begin: (owner: RequestOwner) => void): Promise<ModelResponse> {
  return new Promise((resolve, reject) => {
    try {
      const { emit, mayRetry } = context;
      let stop = stopOf(context);
      if (stop !== undefined || !('signal' in context) || context.signal === undefined)
        return begin({ stop, emit, mayRetry, resolve, reject });
      const signal = read(context.signal, abortSignal, 'context.signal');
      stop = new LazyAbortSignal();
      const abort = () => stop?.ask(signal.reason);
      const last = <Outcome>(settle: (outcome: Outcome) => void) => {
        return (outcome: Outcome) => {
          signal.removeEventListener('abort', abort);
          settle(outcome);
        };
      };
      if (signal.aborted) abort();
      signal.addEventListener('abort', abort);
      begin({ stop, emit, mayRetry, resolve: last(resolve), reject: last(reject) });
    } catch (error) {
      reject(argumentError('run', error));
    }
  });
}

/** Reports a cache break, if there is one. Errors of the listener are ignored. */
function report(owner: RequestOwner, event: CacheBreak | undefined): void {
  if (event === undefined) return;
  try {
    if (owner.report) owner.report(event);
    else owner.emit?.(event);
  } catch {}
}

/**
 * Returns the body of a request as byte ranges: the mark is inserted between ranges of the turns, whose bytes do not
 * change, at this distance from the ends of the turns that it marks.
 */
function bodyOf(
  { head, tail }: EnvelopeBytes,
  { bytes, marks }: TurnBytes,
  mark: Uint8Array | undefined,
  markBack: number,
): Uint8Array[] {
  const body = [head];
  let from = 0;
  if (mark !== undefined) {
    for (let index = 0; index < marks.length; index += 1) {
      const place = (marks[index] as number) - markBack;
      body.push(bytes.subarray(from, place), mark);
      from = place;
    }
  }
  body.push(bytes.subarray(from), tail);
  return body;
}

/** Returns the fastest transport of this platform, which is the default of `createAgent`. For wires that implement `send`. */
export function platformTransport(runtime: Runtime): Transport {
  return defaultTransport(runtime);
}

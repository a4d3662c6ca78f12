import { defined } from '../../values/defined.ts';
import { AgentError, argumentError } from '../../values/errors.ts';
import type { Readers } from '../../values/input.ts';
import { amount, count, read, record, when, withMethods } from '../../values/input.ts';
import { isObject } from '../../values/json.ts';
import type { Runtime } from '../../values/runtime.ts';
import { systemRuntime } from '../../values/runtime.ts';
import { joinBytes, lengthOf } from '../http/bytes.ts';
import type { ServiceConfig } from '../read-config.ts';
import type { RawResponse, Transport, TransportRequest } from '../wire/transport.ts';
import { Batch } from './batch.ts';
import { BatchHttp } from './batch-http.ts';
import type { BatchService } from './batch-service.ts';

/** When requests are sent as a batch, and how often its end is checked. */
export interface BatchOptions {
  /** Time to wait for more requests before a batch is submitted, in milliseconds. Default 1,000. */
  readonly collectMs?: number;
  /** Maximum number of requests in a batch. Default 1,000. */
  readonly maxRequests?: number;
  /** Time before the first check, in milliseconds. Later ones are further apart, at most a minute. Default 5,000. */
  readonly pollMs?: number;
}

/** The reader of {@link BatchOptions}. */
export const batchFields: Readers<BatchOptions> = { collectMs: amount, maxRequests: count, pollMs: amount };

const hour = 3_600_000;

/** Returns the configuration of an agent that sends batches. Its timeouts are longer: a batch can take 24 hours. */
export function withBatches<Config extends ServiceConfig & BatchOptions>(
  given: Config,
  service: BatchService,
): Omit<Config, keyof BatchOptions> {
  const { collectMs, maxRequests, pollMs, ...config } = read(given, readConfig<Config>, 'config');
  const batches = read(service, withMethods<BatchService>('submit', 'outcomes', 'cancel'), 'service');
  const { runtime = systemRuntime, timeouts } = config;
  const options = defined({ collectMs, maxRequests, pollMs });
  return {
    ...config,
    transport: batchTransport(batches, runtime, options),
    timeouts: { headersMs: 25 * hour, totalMs: 72 * hour, ...timeouts },
  };
}

/** Maximum number of bytes of the requests of a batch: 100 MB, the smallest limit of a service. */
const maxBytes = 100_000_000;

/**
 * Creates a transport that sends requests as batches of the service, which can take 24 hours and cost less. Requests
 * with the same address and headers share a batch. The response is the one that the service would have streamed.
 *
 * @throws AgentError `invalid` if an option is invalid.
 */
export function batchTransport(
  service: BatchService,
  runtime: Runtime,
  options: BatchOptions = {},
): Transport {
  const {
    collectMs = 1_000,
    maxRequests = 1_000,
    pollMs = 5_000,
  } = read(options, record<BatchOptions>(batchFields));
  const open = new Map<string, { readonly batch: Batch; readonly stopWaiting: () => void }>();

  function submit(key: string): void {
    const { batch, stopWaiting } = open.get(key) ?? {};
    open.delete(key);
    stopWaiting?.();
    void batch?.run();
  }

  function batchFor(key: string, { url, headers }: TransportRequest, bytes: number): Batch {
    const current = open.get(key)?.batch;
    if (current !== undefined && current.bytes + bytes <= maxBytes) return current;
    submit(key);
    const http = new BatchHttp(url, headers, runtime.fetch);
    const batch = new Batch({ service, http, runtime, pollMs });
    open.set(key, { batch, stopWaiting: runtime.timer(collectMs, () => submit(key)) });
    return batch;
  }

  return (request) => {
    try {
      const bytes = lengthOf(request.body);
      const body = bodyOf(request);
      const key = JSON.stringify([request.url, request.headers]);
      const batch = batchFor(key, request, bytes);
      const entry = { id: runtime.id(), body };
      return new Promise<RawResponse>((resolve, reject) => {
        batch.add({ entry, bytes, resolve, reject });
        onGivenUp(request, (reason) => batch.giveUp(entry.id, reason));
        if (batch.size >= maxRequests) submit(key);
      });
    } catch (error) {
      return Promise.reject(argumentError('batchTransport', error));
    }
  };
}

function bodyOf({ body }: TransportRequest): Record<string, never> {
  const value: unknown = JSON.parse(new TextDecoder().decode(joinBytes(body)));
  if (isObject(value)) return value as Record<string, never>;
  const message = 'The body of a request in a batch must be a JSON object.';
  throw new AgentError({ kind: 'invalid', code: 'bad_option', message });
}

function onGivenUp({ whenGivenUp, signal }: TransportRequest, listener: (reason: unknown) => void): void {
  if (whenGivenUp !== undefined) return whenGivenUp(listener);
  if (signal.aborted) return listener(signal.reason);
  signal.addEventListener('abort', () => listener(signal.reason), { once: true });
}

/** Reads the fields here, because a getter may throw. */
function readConfig<Config extends object>(value: unknown): Config {
  return { ...when<Config>(isObject, 'an object')(value) };
}

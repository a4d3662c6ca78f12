import { AgentError, summarize } from '../../values/errors.ts';
import { callable, listOf, mapOf, read, record, text, withMethods } from '../../values/input.ts';
import type { LazyAbortSignal } from '../../values/lazy-abort-signal.ts';
import type { Runtime } from '../../values/runtime.ts';
import { systemRuntime } from '../../values/runtime.ts';
import type { Credentials, Wire } from '../wire/wire.ts';
import type { ResolvedEndpoint } from './address.ts';
import { withCredentials } from './address.ts';
import { joinBytes } from './bytes.ts';
import type { Headers } from './headers.ts';
import { joinHeaders } from './headers.ts';

/** A request with its credentials. */
export interface AuthorizedRequest {
  /** As `authorize` returned them. */
  readonly credentials: Credentials;
  /** Hides the secrets of the credentials too. */
  readonly endpoint: ResolvedEndpoint;
  readonly headers: Headers;
}

const readCredentials = record<Credentials>({ headers: mapOf(text), secrets: listOf(text) }, ['headers']);

/** The part of an attempt that its credentials depend on. */
interface AttemptedRequest {
  readonly service: { readonly wire: Wire };
  readonly body: readonly Uint8Array[];
  readonly rejected?: Credentials | undefined;
}

/** @throws AgentError `auth` with code `credentials` if `authorize` throws another error, and `invalid` for a wrong result. */
export async function authorizeRequest(
  { service: { wire }, body, rejected }: AttemptedRequest,
  endpoint: ResolvedEndpoint,
  headers: Headers,
  { signal }: LazyAbortSignal,
): Promise<AuthorizedRequest> {
  const asked = { method: 'POST', url: endpoint.url, headers, body: () => joinBytes(body), signal } as const;
  let credentials: Credentials | undefined;
  try {
    credentials = await wire.authorize?.({ ...asked, ...(rejected && { rejected }) });
  } catch (error) {
    if (AgentError.is(error)) throw error;
    const cause = summarize(error);
    const message = `The credentials for ${wire.provider} are not available: ${cause.message}`;
    throw new AgentError({ kind: 'auth', code: 'credentials', provider: wire.provider, message, cause });
  }
  const given = read(credentials, readCredentials, 'authorize()');
  return {
    credentials: credentials as Credentials,
    endpoint: withCredentials(endpoint, given),
    headers: Object.freeze({ ...headers, ...joinHeaders(given.headers) }),
  };
}

/** Credentials that expire. */
export interface ExpiringCredentials extends Credentials {
  /** The time of the expiry in milliseconds since 1970. Undefined: they do not expire. */
  readonly expiresAt?: number;
}

/** Tokens are renewed so long before they expire, in milliseconds, because clocks differ and requests take time. */
const earlyMs = 60_000;

/**
 * Returns an `authorize` function for a wire that keeps credentials until they expire or the service rejects them.
 * Requests that need new ones at the same time wait for one call of `load`. After an error, the next attempt calls it
 * again.
 */
export function cachedCredentials(
  load: () => Promise<ExpiringCredentials>,
  runtime: Pick<Runtime, 'now'> = systemRuntime,
): NonNullable<Wire['authorize']> {
  read(load, callable, 'load');
  read(runtime, withMethods('now'), 'runtime');
  let current: ExpiringCredentials | undefined;
  let renewAt = 0;
  let loading: Promise<Credentials> | undefined;
  const renew = async () => {
    try {
      const from = runtime.now();
      current = await load();
      const { expiresAt = Number.POSITIVE_INFINITY } = current;
      renewAt = expiresAt - Math.min(earlyMs, (expiresAt - from) / 2);
      return current;
    } finally {
      loading = undefined;
    }
  };
  return ({ rejected }) => {
    if (current !== undefined && current !== rejected && runtime.now() < renewAt) return current;
    loading ??= renew();
    return loading;
  };
}

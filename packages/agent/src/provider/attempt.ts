import type { RequestOwner } from '../interfaces/agent.ts';
import type { AgentError } from '../values/errors.ts';
import type { Runtime } from '../values/runtime.ts';
import type { Usage } from '../values/usage.ts';
import type { EndpointCache } from './http/address.ts';
import type { HeaderPicker, Headers } from './http/headers.ts';
import type { Timeouts } from './http/timeouts.ts';
import type { EnvelopeBytes } from './request/envelope-bytes.ts';
import type { RetryPolicy } from './retry-policy.ts';
import type { OpenFraming } from './wire/framing.ts';
import type { Transport } from './wire/transport.ts';
import type { Credentials, Wire } from './wire/wire.ts';

/** The dependencies and settings that all requests of an agent share. */
export interface ProviderContext {
  readonly wire: Wire;
  readonly model: string;
  readonly retry: RetryPolicy;
  readonly framing: OpenFraming;
  readonly runtime: Runtime;
  readonly transport: Transport;
  readonly timeouts: Timeouts;
  /** No timer is set for longer, in milliseconds: the shortest of the later timeouts, so that it need not be set again. */
  readonly maxTimerMs: number;
  readonly endpoint: EndpointCache;
  /** The headers of every request, which those of the endpoint and the envelope override. */
  readonly headers: Headers;
  /** Picks the response headers about rate limits. */
  readonly rateLimits: HeaderPicker | undefined;
}

/** The input of one attempt. */
export interface Attempt {
  readonly service: ProviderContext;
  readonly envelope: EnvelopeBytes;
  /** Byte ranges of the whole body. */
  readonly body: readonly Uint8Array[];
  readonly owner: RequestOwner;
  /** Deadline of the whole call, on the monotonic clock. */
  readonly deadline: number;
  /** Number of requests sent, including this one. */
  readonly attempts: number;
  /** Tokens of the failed attempts. */
  readonly wasted: Usage;
  /** The credentials that the service rejected, once there were such. */
  readonly rejected?: Credentials | undefined;
}

/** An attempt without a response. */
export interface FailedAttempt {
  readonly error: AgentError;
  /** True if another attempt is worthwhile. A timeout may be retryable for the caller, but not within this call. */
  readonly retry: boolean;
  /** Tokens that the service reported or must have used. */
  readonly wasted: Usage;
  readonly sent: boolean;
  /** The credentials of the wire's `authorize` that the request was sent with. */
  readonly credentials: Credentials | undefined;
  /**
   * True if retries are limited by number instead of time: the response had started, so the service may charge for it,
   * or the host name cannot be resolved, so the URL may be wrong.
   */
  readonly counted: boolean;
}

import type { AgentEvent } from '../interfaces/agent.ts';
import type { AgentError } from '../values/errors.ts';
import type { Runtime } from '../values/runtime.ts';
import type { Usage } from '../values/usage.ts';
import type { ResolvedEndpoint } from './http/address.ts';
import type { Headers } from './http/headers.ts';
import type { Timeouts } from './http/timeouts.ts';
import type { AssembledResponse } from './response/assembler.ts';
import type { OpenFraming } from './wire/framing.ts';
import type { Transport } from './wire/transport.ts';
import type { Wire } from './wire/wire.ts';

/** What is the same for all requests of an agent. */
export interface ProviderContext {
  readonly wire: Wire;
  readonly framing: OpenFraming;
  readonly runtime: Runtime;
  readonly transport: Transport;
  readonly timeouts: Timeouts;
  readonly address: () => ResolvedEndpoint | Promise<ResolvedEndpoint>;
  /** Headers of the kit, of which the endpoint may know better. */
  readonly headers: Headers;
}

/** Everything one attempt needs. */
export interface Attempt {
  readonly service: ProviderContext;
  /** Headers of the envelope, which win over all others. */
  readonly envelopeHeaders: Headers;
  readonly body: readonly Uint8Array[];
  readonly signal: AbortSignal | undefined;
  readonly emit: ((event: AgentEvent) => void) | undefined;
  /** When the whole call is over, on the monotonic clock. */
  readonly deadline: number;
  /** The model was asked to think, so that silence means nothing. */
  readonly mayThink: boolean;
}

/** How an attempt ended. */
export type AttemptOutcome =
  | {
      readonly type: 'answered';
      readonly answer: AssembledResponse;
      readonly requestId: string | undefined;
      readonly rateLimits: Headers | undefined;
    }
  | {
      readonly type: 'failed';
      readonly error: AgentError;
      /** Whether another attempt is worth while: a passed deadline may be retryable, but not by us. */
      readonly retry: boolean;
      /** Tokens that the service counted or must have used. */
      readonly wasted: Usage;
      /** Whether a request was made at all. */
      readonly sent: boolean;
      /**
       * Whether the number of retries bounds it and not their time: an answer had begun, so that the service may charge
       * for it, or the name cannot be resolved, so that the address may be wrong.
       */
      readonly counted: boolean;
    };

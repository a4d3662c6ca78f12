import { defined } from './defined.ts';
import { asText } from './invalid-value.ts';
import { clip, isObject } from './json.ts';
import { maxErrorLength } from './max-sizes.ts';
import type { CauseSummary, ErrorData, ErrorKind, Usage } from './stored-values.ts';

export type { CauseSummary, ErrorData, ErrorKind } from './stored-values.ts';

const brand = Symbol.for('cobbler.AgentError');

/** Cobbler's only error class. Use {@link AgentError.is}, not `instanceof`: it also works across copies of the package. */
export class AgentError extends Error {
  readonly kind: ErrorKind;
  readonly code?: string;
  readonly retryable: boolean;
  readonly retryAfterMs?: number;
  readonly status?: number;
  readonly provider?: string;
  readonly requestId?: string;
  readonly attempts?: number;
  readonly wasted?: Usage;
  declare readonly cause?: CauseSummary;

  constructor(data: ErrorData) {
    const { code, retryAfterMs, status, provider, requestId, attempts, wasted, cause } = data;
    super(clip(asText(data.message ?? ''), maxErrorLength));
    this.name = 'AgentError';
    this.kind = data.kind;
    this.retryable = data.retryable ?? false;
    Object.assign(this, { code, retryAfterMs, status, provider, requestId, attempts, wasted });
    if (cause !== undefined) Object.defineProperty(this, 'cause', { value: cause });
    Object.defineProperty(this, brand, { value: true });
  }

  /** Returns whether a value is an AgentError, created by any copy of this package. */
  static is(value: unknown): value is AgentError {
    try {
      return isObject(value) && brand in value;
    } catch {
      // A proxy that cannot be read.
      return false;
    }
  }

  /** Converts any thrown value to an AgentError with this kind and code; an AgentError is returned unchanged. */
  static from(value: unknown, kind: ErrorKind = 'agent', code?: string): AgentError {
    if (AgentError.is(value)) return value;
    const cause = summarize(value);
    return new AgentError({ kind, message: cause.message, cause, ...defined({ code }) });
  }

  /** Returns the error as plain data, without its stack. */
  toJSON(): ErrorData {
    const { kind, message, code, retryAfterMs, status, provider, requestId, attempts, wasted, cause } = this;
    const retryable = this.retryable || undefined;
    return {
      ...{ kind, message },
      ...defined({ code, retryable, retryAfterMs, status, provider, requestId, attempts, wasted, cause }),
    };
  }
}

/** Returns true if the value is an error kind. */
export function isErrorKind(value: unknown): value is ErrorKind {
  return typeof value === 'string' && Object.hasOwn(serviceCodes, value);
}

/** Default codes of failures that a service reported without a code. */
const serviceCodes: Readonly<Record<ErrorKind, string>> = {
  agent: 'service_failed',
  tool: 'service_failed',
  timeout: 'service_timeout',
  rate_limit: 'rate_limited',
  network: 'garbled',
  invalid: 'request_refused',
  auth: 'key_refused',
  aborted: 'cancelled',
  limit: 'service_limit',
};

/** Returns the code for a failure that a service reported, from its kind and HTTP status, if any. */
export function serviceCode(kind: ErrorKind, status?: number): string {
  return status === 404 && kind === 'invalid' ? 'not_served' : serviceCodes[kind];
}

/** Returns a plain, bounded description of any thrown value. Never throws, even if accessors of the value do. */
export function summarize(value: unknown): CauseSummary {
  try {
    if (isObject(value)) {
      // Each is read once, because it can be something else the next time.
      const { name, code, message } = value;
      const type = typeof name === 'string' ? name : 'Error';
      return {
        name: clip(type, 100),
        message: clip((typeof message === 'string' && message) || type, 2000),
        ...(typeof code === 'string' && { code: clip(code, 100) }),
      };
    }
    return { name: typeof value, message: clip(asText(value), 2000) };
  } catch {
    return { name: 'Error', message: 'the thrown error cannot be described' };
  }
}

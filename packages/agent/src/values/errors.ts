import { defined } from './defined.ts';
import { asText } from './invalid-value.ts';
import { clip, isObject } from './json.ts';
import { maxErrorLength } from './sizes.ts';
import type { CauseSummary, ErrorData, ErrorKind, TriedModel, Usage } from './stored-values.ts';

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
  readonly tried?: readonly TriedModel[];
  declare readonly cause?: CauseSummary;

  /** @throws AgentError `invalid`, code `bad_option`, for data that is not an error. */
  constructor(data: ErrorData) {
    const own = readData(data);
    super(clip(own.message, maxErrorLength));
    this.name = 'AgentError';
    this.kind = own.kind;
    this.retryable = own.retryable ?? false;
    Object.assign(this, { code: own.code }, pick(own));
    if (own.cause !== undefined) Object.defineProperty(this, 'cause', { value: own.cause });
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
    const { kind, message, code, cause } = this;
    const retryable = this.retryable || undefined;
    return { kind, message, ...defined({ code, retryable, ...pick(this), cause }) };
  }
}

const facts = ['retryAfterMs', 'status', 'provider', 'requestId', 'attempts', 'wasted', 'tried'] as const;

type Facts = { readonly [Name in (typeof facts)[number]]: ErrorData[Name] | undefined };

/** Returns what is known about a failure besides its reason, in the order in which it is stored. */
function pick(error: Partial<Facts>): Facts {
  return Object.fromEntries(facts.map((name) => [name, error[name]])) as Facts;
}

/** Reads the data of an error once. */
function readData(data: ErrorData): ErrorData {
  try {
    const own = { ...data };
    if (isErrorKind(own.kind) && typeof own.message === 'string' && typeof (own.code ?? '') === 'string')
      return own;
  } catch {
    // Reported below, like data without a message.
  }
  const message =
    'The data of an AgentError is invalid. Use an object with `kind`, `message` and, if it is known, `code`.';
  throw new AgentError({ kind: 'invalid', code: 'bad_option', message });
}

/** Returns true if the value is an error kind. */
export function isErrorKind(value: unknown): value is ErrorKind {
  return typeof value === 'string' && Object.hasOwn(serviceCodes, value);
}

/**
 * If the error says that a budget of a store is reached, returns when the run can continue: `until` is the start of the next
 * period in ISO 8601, absent if no time starts one. Returns undefined for any other error.
 */
export function reachedBudget(error: ErrorData | undefined): { readonly until?: string } | undefined {
  return withArgumentErrors('reachedBudget', () => {
    // The words are those of `BudgetClient`. A field of their own would be an error to older readers of the log.
    const [found, until] =
      /^The limit of budget .*?(?: starts at (\S+)\.)?$/.exec(error?.message ?? '') ?? [];
    return error?.kind === 'limit' && found !== undefined ? defined({ until }) : undefined;
  });
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
  return withArgumentErrors('serviceCode', () =>
    status === 404 && kind === 'invalid' ? 'not_served' : serviceCodes[kind],
  );
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

/**
 * Returns the error for what a function threw because an argument has another type than it declares. `name` is the function.
 * For functions that compute with data of Cobbler's own types, where reading it again would cost more than the work.
 */
export function argumentError(name: string, thrown: unknown): AgentError {
  if (AgentError.is(thrown)) return thrown;
  const message = `An argument to ${name} is invalid: ${summarize(thrown).message}. Use values of the declared types.`;
  return new AgentError({ kind: 'invalid', code: 'bad_option', message });
}

/** Runs a function that computes with its caller's arguments; what it throws becomes the {@link argumentError} of `name`. */
export function withArgumentErrors<Value>(name: string, compute: () => Value): Value {
  try {
    return compute();
  } catch (thrown) {
    throw argumentError(name, thrown);
  }
}

import type { Fault, FaultKind } from '@cobbler/agent/provider';
import { defined } from '@cobbler/agent/values';
import { fieldsOf, isObject } from './fields.ts';

/** The service's description of an error: `{ error: { message, type, code, param } }`. */
export interface ErrorObject {
  readonly message?: string;
  readonly type?: string;
  /** A name at OpenAI; some compatible servers send an HTTP status instead. */
  readonly code?: string | number;
  readonly param?: string;
}

/**
 * Describes an HTTP failure of any OpenAI-compatible service. The status determines its kind, unless the body is more
 * specific: no credit left (a 429 that waiting does not solve) or an overload.
 */
export function faultOf(status: number, body: string): Fault {
  const error = readBody(body);
  const text = plainText(body);
  const unexplained = `The service responded with status ${status}${text === '' ? ' and no explanation.' : `: ${text}`}`;
  const message = error.message ?? unexplained;
  const kind = isTooLong(error) ? 'too_long' : wordKind(error);
  const isWithoutCredit = kinds.get(error.code) === 'invalid';
  const isDecisive = kind === 'busy' || kind === 'too_long' || isWithoutCredit;
  return { message: explainMessage(message, error), ...(isDecisive && defined({ kind })) };
}

/** Describes a failure inside a stream, where there is no status. */
export function streamFault(error: ErrorObject): { kind: FaultKind; message: string; retryAfterMs?: number } {
  const message = error.message ?? 'The service reported an error without details.';
  const retryAfterMs = waitIn(message);
  return {
    kind: (isTooLong(error) ? 'too_long' : kindIn(error)) ?? 'agent',
    message: explainMessage(message, error),
    ...defined({ retryAfterMs }),
  };
}

function kindIn(error: ErrorObject): FaultKind | undefined {
  return typeof error.code === 'number' ? kindOfStatus(error.code) : wordKind(error);
}

/** Reads an error object. Compatible servers also send a string, or the fields without `error`. */
export function errorObject(value: unknown): ErrorObject {
  if (typeof value === 'string') return { message: value };
  if (!isObject(value)) return {};
  const { message, type, code, param } = value;
  return {
    ...(typeof message === 'string' && message !== '' && { message }),
    ...(typeof type === 'string' && { type }),
    ...((typeof code === 'string' || typeof code === 'number') && { code }),
    ...(typeof param === 'string' && { param }),
  };
}

function readBody(body: string): ErrorObject {
  try {
    const parsed: unknown = JSON.parse(body);
    return errorObject(fieldsOf(parsed)['error'] ?? fieldsOf(parsed));
  } catch {
    return {};
  }
}

/** Returns the beginning of a page that is not JSON, such as a proxy's, without its markup. */
function plainText(body: string): string {
  const text = body
    .replace(/<(style|script)[\s\S]*?<\/\1>|<[^>]*>/gi, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}

/**
 * Fault kinds by error code. An account without credit gets 429 like a rate limit, but waiting does not help: it is
 * `invalid`, like the 402 of other services, and never retried.
 */
const kinds: ReadonlyMap<unknown, FaultKind> = new Map<unknown, FaultKind>([
  ['insufficient_quota', 'invalid'],
  ['credit_balance_exhausted', 'invalid'],
  ['billing_hard_limit_reached', 'invalid'],
  ['context_length_exceeded', 'too_long'],
  ['exceed_context_size_error', 'too_long'],
  ['rate_limit_exceeded', 'rate_limit'],
  ['rate_limit_error', 'rate_limit'],
  ['server_is_overloaded', 'busy'],
  ['slow_down', 'busy'],
  ['service_unavailable_error', 'busy'],
  ['overloaded_error', 'busy'],
  ['invalid_api_key', 'auth'],
  ['authentication_error', 'auth'],
  ['server_error', 'agent'],
  ['api_error', 'agent'],
]);

/** Detects a conversation that is too long by its message; compatible servers have no error code for it. */
function isTooLong({ message = '' }: ErrorObject): boolean {
  return /maximum context length|exceeds? the (available |model's )?context/i.test(message);
}

function wordKind({ code, type }: ErrorObject): FaultKind | undefined {
  // The last are codes of ResponseError in the SDK, for input that the service will never accept.
  const isRejected = /^(invalid|image|unsupported|empty_image|failed_to_download)_|policy/;
  const kindOf = (word: unknown) =>
    kinds.get(word) ?? (isRejected.test(String(word)) ? 'invalid' : undefined);
  return kindOf(code) ?? kindOf(type);
}

function kindOfStatus(status: number): FaultKind | undefined {
  if (status === 401 || status === 403) return 'auth';
  if (status === 408) return 'timeout';
  if (status === 429) return 'rate_limit';
  if (status === 503 || status === 529) return 'busy';
  if (status >= 400 && status < 500) return 'invalid';
  return status >= 500 ? 'agent' : undefined;
}

/** Returns the delay in the message of a stream error: "Please try again in 1.3s" or "in 498ms". */
function waitIn(message: string): number | undefined {
  const found = /try again in (\d+(?:\.\d+)?)\s*(ms|s|m)\b/i.exec(message);
  if (found === null) return undefined;
  const unit = { ms: 1, s: 1000, m: 60_000 }[(found[2] ?? 's').toLowerCase()] ?? 1000;
  return Math.ceil(Number(found[1]) * unit);
}

/** Removes the key, parts of which OpenAI repeats in a rejection, and adds advice for known errors. */
function explainMessage(message: string, error: ErrorObject): string {
  const safe = message.replace(/(API key provided: )\S+/gi, '$1(not shown).');
  if (error.param === 'reasoning.summary')
    return `${safe} Set reasoningSummary to 'off' to disable summaries.`;
  return safe;
}

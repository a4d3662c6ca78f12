import type { ScriptFault, WireError } from '@cobbler/agent/testing';

/** OpenAI's description of an error, which is under `error` in every failure. */
export interface WireFailure {
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
  readonly code: string | null;
}

/** Returns a failure with OpenAI's status and headers. */
export function wireError(
  status: number,
  failure: WireFailure,
  headers: Record<string, string> = {},
): WireError {
  return {
    status,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ error: failure }, null, 2),
  };
}

/** Returns the error for an invalid request. */
export function refusal(
  message: string,
  {
    status = 400,
    param = null,
    code = null,
  }: { status?: number; param?: string | null; code?: string | null } = {},
): WireError {
  return wireError(status, { message, type: 'invalid_request_error', param, code });
}

type Words = Omit<WireFailure, 'message'> & { readonly status: number };

/**
 * Status, type and code of each failure, from developers.openai.com/api/docs/guides/error-codes and, for the
 * overload, the bodies quoted in github.com/anomalyco/opencode/issues/25884.
 */
const words: Readonly<Record<ScriptFault['kind'], Words>> = {
  busy: { status: 503, type: 'service_unavailable_error', param: null, code: 'server_is_overloaded' },
  rate_limit: { status: 429, type: 'requests', param: null, code: 'rate_limit_exceeded' },
  agent: { status: 500, type: 'server_error', param: null, code: null },
  invalid: { status: 400, type: 'invalid_request_error', param: null, code: null },
  auth: { status: 401, type: 'invalid_request_error', param: null, code: 'invalid_api_key' },
  not_found: { status: 404, type: 'invalid_request_error', param: null, code: 'model_not_found' },
  too_long: {
    status: 400,
    type: 'invalid_request_error',
    param: 'input',
    code: 'context_length_exceeded',
  },
};

/** Returns a failure in the service's form, without its status. */
export function failureOf(fault: ScriptFault): WireFailure {
  const { status: _status, ...rest } = words[fault.kind];
  return { message: fault.message, ...rest };
}

/**
 * Returns a failure as an HTTP response. The message repeats a rejected key; OpenAI shows only its ends, other
 * servers all of it.
 */
export function errorOf(fault: ScriptFault, secret: string): WireError {
  const failure = failureOf(fault);
  const echo = `${fault.message} Incorrect API key provided: ${secret}. You can find your API key at https://platform.openai.com/account/api-keys.`;
  const hint = fault.retryAfterMs === undefined ? {} : { 'retry-after-ms': String(fault.retryAfterMs) };
  return wireError(
    words[fault.kind].status,
    fault.kind === 'auth' ? { ...failure, message: echo } : failure,
    hint,
  );
}

/** Returns a failure inside a stream. It has no headers, so the message contains the delay. */
export function streamFailure(fault: ScriptFault): WireFailure {
  const failure = failureOf(fault);
  if (fault.retryAfterMs === undefined) return failure;
  return { ...failure, message: `${failure.message} Please try again in ${fault.retryAfterMs}ms.` };
}

/**
 * Headers of a successful response (developers.openai.com/api/docs/guides/rate-limits), and the values read from
 * them.
 */
export const goodHead = {
  headers: {
    'x-request-id': 'req_1',
    'x-ratelimit-limit-requests': '60',
    'x-ratelimit-remaining-requests': '59',
    'x-ratelimit-reset-requests': '1s',
    'openai-processing-ms': '112',
  },
  requestId: 'req_1',
  rateLimits: {
    'x-ratelimit-limit-requests': '60',
    'x-ratelimit-remaining-requests': '59',
    'x-ratelimit-reset-requests': '1s',
  },
} as const;

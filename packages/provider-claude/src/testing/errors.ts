import type { ErrorResponse } from '@anthropic-ai/sdk/resources/shared';
import type { ScriptFault, WireError } from '@cobbler/agent/testing';

/** Error types of the service. The last one comes from the network in front of it and is not in the SDK's types. */
export type ErrorType = ErrorResponse['error']['type'] | 'request_too_large';

const requestId = 'req_01scripted';

/** Returns an error of the service as an HTTP response. Source: "Claude API errors", error shapes and request ids. */
export function serviceError(
  status: number,
  type: ErrorType,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): WireError {
  return {
    status,
    headers: { 'content-type': 'application/json', 'request-id': requestId, ...headers },
    body: JSON.stringify(errorBody(type, message)),
  };
}

/** Returns the error for a request that the service rejects. */
export function refusal(message: string): WireError {
  return serviceError(400, 'invalid_request_error', message);
}

/** Returns a scripted failure as an HTTP response. */
export function error(fault: ScriptFault, secret: string): WireError {
  const { status, type } = kinds[fault.kind];
  const message = fault.kind === 'auth' ? `${fault.message} (x-api-key: ${secret})` : fault.message;
  const text = fault.kind === 'too_long' ? `prompt is too long: ${message}` : message;
  return serviceError(status, type, text, waitHeader(fault.retryAfterMs));
}

/** Returns the events of a failure inside a stream that started normally. */
export function fail(fault: ScriptFault): readonly unknown[] {
  return [errorBody(kinds[fault.kind].type, fault.message)];
}

const kinds: Readonly<Record<ScriptFault['kind'], { readonly status: number; readonly type: ErrorType }>> = {
  busy: { status: 529, type: 'overloaded_error' },
  rate_limit: { status: 429, type: 'rate_limit_error' },
  agent: { status: 500, type: 'api_error' },
  invalid: { status: 400, type: 'invalid_request_error' },
  auth: { status: 401, type: 'authentication_error' },
  not_found: { status: 404, type: 'not_found_error' },
  too_long: { status: 400, type: 'invalid_request_error' },
};

function errorBody(type: ErrorType, message: string) {
  return { type: 'error', error: { type, message }, request_id: requestId };
}

/** Returns the delay header: whole seconds if that is exact; the service's clients read both forms. */
function waitHeader(ms: number | undefined): Record<string, string> {
  if (ms === undefined) return {};
  return ms % 1000 === 0 ? { 'retry-after': String(ms / 1000) } : { 'retry-after-ms': String(ms) };
}

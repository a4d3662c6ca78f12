import type { Fault, FaultKind } from '@cobbler/agent/provider';
import { defined } from '@cobbler/agent/values';
import { fieldsOf } from './fields.ts';

/** Fault kinds by the service's error types. Source: "Claude API errors" and `ErrorType` of the SDK. */
const kinds: ReadonlyMap<unknown, FaultKind> = new Map<unknown, FaultKind>([
  ['overloaded_error', 'busy'],
  ['rate_limit_error', 'rate_limit'],
  ['api_error', 'agent'],
  ['timeout_error', 'agent'],
  ['authentication_error', 'auth'],
  ['permission_error', 'auth'],
  ['billing_error', 'invalid'],
  ['invalid_request_error', 'invalid'],
  ['not_found_error', 'invalid'],
  ['request_too_large', 'invalid'],
]);

/** Returns the kind of an error type; undefined if the type is unknown. */
export function kindOfError(type: unknown): FaultKind | undefined {
  return kinds.get(type);
}

/** Describes an HTTP failure. A body that is not the service's JSON, such as a proxy's page, is classified by its status. */
export function readFault(status: number, body: string): Fault {
  const error = errorOf(body);
  const kind = status === 529 ? 'busy' : isTooLong(error.message) ? 'too_long' : kindOfError(error.type);
  const message = advise(status, error.type, error.message);
  return { message, ...defined({ kind }) };
}

/** Detects a conversation that is too long by its message, because the service has no error type for it. */
function isTooLong(message = ''): boolean {
  return /prompt is too long|context (window|limit)/i.test(message);
}

function errorOf(body: string): { readonly type?: string; readonly message?: string } {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    return {};
  }
  const error = fieldsOf(fieldsOf(parsed)['error']);
  return {
    ...(typeof error['type'] === 'string' && { type: error['type'] }),
    ...(typeof error['message'] === 'string' && { message: error['message'] }),
  };
}

/** Returns the service's message, if any, and advice. */
function advise(status: number, type: string | undefined, detail: string | undefined): string {
  const suffix = detail === undefined || detail === '' ? '' : `: ${detail}`;
  if (isTooLong(suffix)) {
    return `The conversation exceeds this model's context window${suffix}. Start a new conversation, or send less.`;
  }
  if (status === 413 || type === 'request_too_large') {
    return `The request exceeds Claude's size limit (32 MB)${suffix}. Send fewer or smaller files.`;
  }
  if (status === 401 || type === 'authentication_error') {
    return `Claude rejected the API key${suffix}. Check ANTHROPIC_API_KEY, or create a new key in the Claude Console.`;
  }
  if (status === 403 || type === 'permission_error') return `This API key lacks permission${suffix}.`;
  if (status === 402 || type === 'billing_error')
    return `Claude reports a billing problem with the account${suffix}.`;
  if (status === 404)
    return `The Claude API does not recognize this model or address${suffix}. Check the model's name and the base URL.`;
  if (status === 529 || type === 'overloaded_error') return `Claude is overloaded${suffix}.`;
  if (status === 429) return `Claude's rate limit was reached${suffix}.`;
  return suffix === ''
    ? `Claude responded with status ${status}.`
    : `Claude rejected the request (${status})${suffix}`;
}

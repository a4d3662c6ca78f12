import type { Fault, FaultKind } from '@cobbler/agent/provider';
import { isObject } from '@cobbler/agent/provider';
import type { Fields } from '../values/fields.ts';
import { fieldsOf, numberIn, parsedFields, textIn } from '../values/fields.ts';

/** Error types of an account without credit, which waiting does not help. */
const withoutCredit = /insufficient_quota|billing|credit/;

/** Patterns of error types in the services' messages. Sources: the error types of Anthropic, OpenAI and Google. */
const kinds: readonly (readonly [RegExp, FaultKind])[] = [
  [withoutCredit, 'invalid'],
  [/context_length|context_window|too_long/, 'too_long'],
  [/overload|unavailable/, 'busy'],
  [/rate_limit|resource_exhausted|too_many/, 'rate_limit'],
  [/authentication|permission|unauthenticated|invalid_api_key/, 'auth'],
  [/invalid|not_found|too_large|unsupported/, 'invalid'],
  [/timeout|server_error|api_error|internal/, 'agent'],
];

interface ProviderFailure {
  readonly message?: string | undefined;
  readonly words: string;
  /** The HTTP status, which some services include in a stream. */
  readonly status?: number | undefined;
}

/** Describes an HTTP failure of any service. */
export function readFault(status: number, body: string): Fault {
  const failure = readFailure(parsedFields(body));
  const kind = status === 529 ? 'busy' : kindOf(failure);
  // The status alone would cause a wrong retry or none.
  const isDecisive = kind === 'busy' || kind === 'too_long' || withoutCredit.test(failure.words);
  const message = advise(status, kind, failure.message ?? plainText(body));
  return { message, ...(isDecisive && kind !== undefined && { kind }) };
}

/** Describes a failure that the SDK reports inside a stream. */
export function streamFault(error: unknown): { readonly kind: FaultKind; readonly message: string } {
  const fields = fieldsOf(error);
  const data = fields['data'] ?? parsedFields(textIn(fields['responseBody']) ?? '');
  const inner = readFailure(fieldsOf(data));
  const outer = readFailure(fields);
  const words = `${inner.words} ${outer.words}`;
  const message = inner.message ?? outer.message;
  const status = inner.status ?? outer.status;
  const kind = kindOf({ words, message }) ?? kindOfStatus(status);
  return { kind, message: message ?? 'The service reported an error without details.' };
}

function kindOf({ words, message = '' }: ProviderFailure): FaultKind | undefined {
  if (/prompt is too long|maximum context length|context (window|limit)/i.test(message)) return 'too_long';
  return kinds.find(([pattern]) => pattern.test(words))?.[1];
}

function kindOfStatus(status: number | undefined): FaultKind {
  if (status === 401 || status === 403) return 'auth';
  if (status === 429) return 'rate_limit';
  if (status === 503 || status === 529) return 'busy';
  return status !== undefined && status >= 400 && status < 500 ? 'invalid' : 'agent';
}

/** Finds the error object under `error`, under `response.error`, or in the whole body. */
function readFailure(fields: Fields): ProviderFailure {
  const { error: direct } = fields;
  const nested = fieldsOf(fields['response'])['error'];
  const error = [direct, nested].find(isObject) ?? fields;
  const { code, type, status } = error;
  const words = `${code} ${type} ${status}`.toLowerCase();
  const number = numberIn(code) ?? numberIn(status) ?? numberIn(fields['statusCode']);
  return { message: textIn(error['message']) ?? textIn(direct), words, status: number };
}

/** Returns the beginning of a page that is not JSON, such as a proxy's, without its markup. */
function plainText(body: string): string | undefined {
  const text = body.replace(/(<(style|script)[\s\S]*?<\/\2>|<[^>]*>|\s)+/gi, ' ');
  return textIn(text.trim().slice(0, 300));
}

/** Returns the service's message, if any, and advice. */
function advise(status: number, kind: FaultKind | undefined, detail: string | undefined): string {
  const suffix = detail === undefined ? '.' : `: ${detail}`;
  if (kind === 'too_long')
    return `The conversation exceeds this model's context window${suffix} Start a new conversation, or send less.`;
  if (status === 401) return `The model's service rejected the key${suffix} Check the key.`;
  if (status === 403) return `This key lacks permission${suffix}`;
  if (status === 404)
    return `The model's service does not recognize this model or address${suffix} Check the model's name and the base URL.`;
  if (kind === 'busy') return `The model's service is overloaded${suffix}`;
  if (status === 429) return `The rate limit of the model's service was reached${suffix}`;
  return `The model's service responded with status ${status}${suffix}`;
}

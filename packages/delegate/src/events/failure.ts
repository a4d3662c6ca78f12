import type { ErrorData, ErrorKind } from '@cobbler/agent';
import { serviceCode } from '@cobbler/agent/values';

/** A program's reason for its failure. */
export interface ReportedFailure {
  /** Message for the user. */
  readonly message: string;
  /** The HTTP status of the service, if known. */
  readonly status?: number | undefined;
  /** True if a connection to that service failed. */
  readonly connection?: boolean;
}

/** Statuses after which the same request may succeed. */
const passing: ReadonlySet<number> = new Set([408, 409, 429, 500, 502, 503, 504, 529]);

/** Patterns of messages that indicate a status, used only without one. The first match counts. */
const words: readonly (readonly [words: RegExp, kind: ErrorKind, retryable: boolean])[] = [
  [/authentication|unauthori[sz]ed|\b40[13]\b|not logged in|api key|api_key|login/i, 'auth', false],
  [/quota|billing|credit balance/i, 'rate_limit', false],
  [/invalid_request|ran out of room|prompt is too long|\b400\b/i, 'invalid', false],
  [/rate_limit|rate limit|\b429\b|overloaded|\b529\b|at capacity|too many requests/i, 'rate_limit', true],
  [/connection|stream disconnected|ECONN|network|timed out/i, 'network', true],
  [/api_error|\b50[0234]\b|high demand|internal server/i, 'agent', true],
];

/** Converts a failure to an error by its status, or by its message if there is no status. */
export function failureOf({ message, status, connection }: ReportedFailure, provider: string): ErrorData {
  const text =
    message.trim() === '' ? 'The program failed without an error message.' : message.slice(0, 2000);
  const base = { message: text, provider };
  if (status !== undefined) {
    const kind = kindOf(status);
    const code = serviceCode(kind, status);
    return { ...base, kind, code, status, ...(passing.has(status) && { retryable: true }) };
  }
  if (connection === true) return { ...base, kind: 'network', code: 'connection_failed', retryable: true };
  const found = words.find(([pattern]) => pattern.test(text));
  if (found === undefined) return { ...base, kind: 'agent', code: 'service_failed' };
  const [, kind, retryable] = found;
  const code = kind === 'network' ? 'connection_failed' : serviceCode(kind);
  return { ...base, kind, code, ...(retryable && { retryable: true }) };
}

function kindOf(status: number): ErrorKind {
  if (status === 401 || status === 403) return 'auth';
  if (status === 408) return 'timeout';
  if (status === 429 || status === 529) return 'rate_limit';
  return status === 409 || status >= 500 ? 'agent' : 'invalid';
}

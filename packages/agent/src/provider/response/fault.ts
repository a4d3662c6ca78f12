import { defined } from '../../values/defined.ts';
import type { ErrorKind } from '../../values/errors.ts';
import { AgentError, serviceCode, summarize } from '../../values/errors.ts';
import { clip, isObject } from '../../values/json.ts';
import { wellFormedText } from '../../values/unicode.ts';
import { usableWait } from '../http/retry-after.ts';
import type { Fault, FaultKind } from '../wire/wire.ts';

/** Promise 6: whatever the reason, the service would refuse the same request again. */
const neverRetried: ReadonlySet<number> = new Set([400, 401, 403, 404, 413, 422]);

const retryableKinds: ReadonlySet<ErrorKind> = new Set(['agent', 'rate_limit', 'network', 'timeout']);

const maxMessageLength = 2000;

/** Returns the error kind of an HTTP status, for a service that gives no details. */
export function kindOfStatus(status: number): ErrorKind {
  if (status === 401 || status === 403) return 'auth';
  if (status === 408) return 'timeout';
  if (status === 429 || status === 529) return 'rate_limit';
  if (status === 409 || status >= 500) return 'agent';
  return 'invalid';
}

/** A failure that the service reported, by status or inside a stream. */
export interface ReportedFault extends Fault {
  readonly status?: number | undefined;
  readonly requestId?: string | undefined;
}

const codes: Readonly<Partial<Record<FaultKind, string>>> = {
  too_long: 'context_full',
  not_found: 'not_served',
};

/** Creates the error for a failure that the service reported. */
export function faultError(provider: string, fault: ReportedFault): AgentError {
  const { status, requestId } = fault;
  const kind = kindOf(fault);
  const code = fault.code ?? codes[fault.kind ?? 'agent'] ?? serviceCode(kind, status);
  const retryAfterMs = usableWait(fault.retryAfterMs);
  return new AgentError({
    kind,
    // Truncating can cut a surrogate pair in half.
    message:
      wellFormedText(clip(fault.message.trim(), maxMessageLength)) ||
      `The service failed${status === undefined ? '' : ` with status ${status}`} and gave no reason.`,
    provider,
    retryable: retryableKinds.has(kind) && (status === undefined || !neverRetried.has(status)),
    code,
    ...defined({ status, retryAfterMs, requestId }),
  });
}

function kindOf(fault: ReportedFault): ErrorKind {
  if (fault.kind === 'busy') return 'rate_limit';
  if (fault.kind === 'broken') return 'network';
  if (fault.kind === 'too_long' || fault.kind === 'not_found') return 'invalid';
  return fault.kind ?? kindOfStatus(fault.status ?? 500);
}

/** Readable descriptions of error codes of Node, browsers and TLS. */
const causes: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was closed',
  ENOTFOUND: 'the host name cannot be resolved',
  EAI_AGAIN: 'the host name cannot be resolved at the moment',
  ETIMEDOUT: 'the connection timed out',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
};

/** Returns ` through the proxy ADDRESS (VARIABLE)` if the transport reports a proxy. */
function throughProxy(thrown: unknown): string {
  const proxy: unknown = isObject(thrown) ? thrown['proxy'] : undefined;
  if (!isObject(proxy)) return '';
  return ` through the proxy ${String(proxy['address'])} (${String(proxy['variable'])})`;
}

/** Creates the error for a failed connection; `doing` describes the failed operation. An AgentError is returned unchanged. */
export function connectionError(provider: string, host: string, doing: string, thrown: unknown): AgentError {
  if (AgentError.is(thrown)) return thrown;
  const cause = deepestCause(thrown);
  const { code = '' } = cause;
  if (/^ERR_(INVALID|UNESCAPED|HTTP_INVALID)/.test(code)) {
    return new AgentError({
      kind: 'invalid',
      code: 'unsendable',
      message: `The request cannot be sent: ${cause.message}.`,
      provider,
      cause,
    });
  }
  const reason = causes[code] ?? cause.message;
  const isDistrust = /CERT|SELF_SIGNED|ALTNAME|UNABLE_TO_VERIFY/.test(code);
  const advice = isDistrust
    ? ' If a proxy on your network inspects TLS, set NODE_EXTRA_CA_CERTS to the path of a file with the CA certificate of the proxy.'
    : '';
  return new AgentError({
    kind: 'network',
    code: isDistrust ? 'certificate' : 'connection_failed',
    message: `${doing} ${host}${throughProxy(thrown)} failed: ${reason}.${advice}`,
    // An invalid certificate does not become valid on a retry.
    retryable: !isDistrust,
    provider,
    cause,
  });
}

/** Finds the underlying cause: fetch puts it in `cause`, Node puts failed lookups in `errors`. */
function deepestCause(thrown: unknown): ReturnType<typeof summarize> {
  let deepest = thrown;
  for (let depth = 0; depth < 5 && typeof deepest === 'object' && deepest !== null; depth += 1) {
    const inner = 'cause' in deepest ? deepest.cause : undefined;
    const several = 'errors' in deepest && Array.isArray(deepest.errors) ? deepest.errors[0] : undefined;
    const next: unknown = inner ?? several;
    if (next === undefined) break;
    deepest = next;
  }
  return summarize(deepest);
}

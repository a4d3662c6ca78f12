import type { AgentError, ErrorKind } from '../values/errors.ts';

/** Failures of a service or of the way to it. Whether the request was sent again before does not matter. */
const serviceKinds: ReadonlySet<ErrorKind> = new Set(['agent', 'rate_limit', 'network', 'timeout', 'auth']);

/** Statuses of requests that a service refuses for its own reasons: no credit left, an unknown model. */
const ownStatuses: ReadonlySet<number> = new Set([402, 404, 429]);

/** Returns whether the conversation is too long for the model. */
export function isTooLong({ code }: AgentError): boolean {
  return code === 'context_full';
}

/**
 * Returns whether the same request may succeed with another service. It cannot if the caller cancelled it, a limit was
 * reached, or the request itself is wrong.
 */
export function isCurable(error: AgentError): boolean {
  const { kind, code, status } = error;
  if (kind !== 'invalid') return serviceKinds.has(kind);
  return code === 'not_served' || (status !== undefined && ownStatuses.has(status));
}

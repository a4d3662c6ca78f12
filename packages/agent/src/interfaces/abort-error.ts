import { AgentError } from '../values/errors.ts';

/**
 * Returns the error for an aborted signal from its reason. A reason that is an AgentError, such as a run timeout, is returned
 * unchanged; `AbortSignal.timeout` gives kind `timeout`; all others give `aborted`.
 */
export function abortError(reason: unknown, provider: string): AgentError {
  if (AgentError.is(reason)) return reason;
  const late =
    typeof reason === 'object' && reason !== null && 'name' in reason && reason.name === 'TimeoutError';
  return late
    ? new AgentError({
        kind: 'timeout',
        code: 'request_timeout',
        message: 'The request timed out.',
        provider,
      })
    : new AgentError({
        kind: 'aborted',
        code: 'cancelled',
        message: 'The request was cancelled.',
        provider,
      });
}

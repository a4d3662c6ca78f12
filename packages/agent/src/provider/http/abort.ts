import { AgentError } from '../../values/errors.ts';

/**
 * The error of an aborted signal. A reason that is an AgentError, such as the time-out of a run, is used as
 * it is; `AbortSignal.timeout` gives `timeout`; all else is `aborted`.
 */
export function abortError(signal: AbortSignal, provider: string): AgentError {
  const reason: unknown = signal.reason;
  if (AgentError.is(reason)) return reason;
  const late =
    typeof reason === 'object' && reason !== null && 'name' in reason && reason.name === 'TimeoutError';
  return late
    ? new AgentError({
        kind: 'timeout',
        code: 'request_timeout',
        message: 'The time allowed for the request is over.',
        provider,
      })
    : new AgentError({
        kind: 'aborted',
        code: 'cancelled',
        message: 'The request was cancelled.',
        provider,
      });
}

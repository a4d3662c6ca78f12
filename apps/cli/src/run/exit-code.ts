import type { ErrorKind, RunStatus } from '@cobbler/agent';

/** The exit codes of the process. */
export const exitCodes = {
  complete: 0,
  failed: 1,
  usage: 2,
  limit: 3,
  denied: 5,
  timeout: 124,
  cancelled: 130,
} as const;

/** The parts of a run that decide the exit code. */
export interface RunEnding {
  readonly status: RunStatus;
  readonly error?: { readonly kind: ErrorKind };
}

/** The exit code of a run. `unasked`: a call was denied because no user could be asked. */
export function exitCodeOf(ending: RunEnding, unasked: boolean): number {
  switch (ending.status) {
    case 'complete':
      return unasked ? exitCodes.denied : exitCodes.complete;
    case 'waiting':
      return exitCodes.denied;
    case 'limit':
      return exitCodes.limit;
    case 'timeout':
      return exitCodes.timeout;
    case 'cancelled':
      return exitCodes.cancelled;
    case 'max_tokens':
    case 'refusal':
      return exitCodes.failed;
    case 'failed':
      return ending.error?.kind === 'invalid' || ending.error?.kind === 'auth'
        ? exitCodes.usage
        : exitCodes.failed;
  }
}

import type {
  Backend,
  BackendContext,
  BackendProcess,
  BackendRequest,
  BackendResult,
} from '../backend/backend.ts';

/** The exit code of a program that does not know what it was asked for. */
const usageError = 2;

/**
 * One way to speak to a program, and another for when the program does not know the first: it then said nothing and
 * did nothing, so that the job is done once.
 */
export function withFallback(first: Backend, second: Backend): Backend {
  const start = (request: BackendRequest, context: BackendContext = {}): BackendProcess => {
    let hasBegun = false;
    let isStopped = false;
    const watched: BackendContext = {
      ...context,
      onEvent: (event) => {
        hasBegun ||= event.type === 'session';
        context.onEvent?.(event);
      },
    };
    let current = first.start(request, watched);
    const other = async (result: BackendResult): Promise<BackendResult> => {
      if (hasBegun || isStopped || result.exitCode !== usageError) return result;
      current = second.start(request, context);
      return current.result;
    };
    return {
      result: current.result.then(other),
      stop: () => {
        isStopped = true;
        current.stop();
      },
      decide: (callId, decision) => current.decide(callId, decision),
      steer: (text) => current.steer(text),
    };
  };
  return {
    name: first.name,
    capabilities: first.capabilities,
    tellsCost: first.tellsCost,
    problem: () => first.problem(),
    run: (request, context) => start(request, context).result,
    start,
  };
}

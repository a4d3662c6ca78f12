import type { RequestContext } from '../interfaces/agent.ts';
import { ownContext, stopOf } from '../interfaces/own-context.ts';
import { defined } from '../values/defined.ts';

/** Returns a context with the same signal, but with these functions. */
export function contextWith(
  context: RequestContext,
  emit: NonNullable<RequestContext['emit']>,
  mayRetry: NonNullable<RequestContext['mayRetry']>,
): RequestContext {
  const stop = stopOf(context);
  if (stop !== undefined) return ownContext(stop, emit, mayRetry);
  return { ...defined({ signal: context.signal }), emit, mayRetry };
}

/** Returns why a request was stopped; undefined if it was not. */
export function stopReasonOf(context: RequestContext): { readonly reason: unknown } | undefined {
  const stop = stopOf(context);
  const isStopped = stop === undefined ? context.signal?.aborted === true : stop.isStopRequested;
  return isStopped ? { reason: stop === undefined ? context.signal?.reason : stop.reason } : undefined;
}

import type { LazyAbortSignal } from '../values/lazy-abort-signal.ts';
import type { RequestContext } from './agent.ts';

type Emit = NonNullable<RequestContext['emit']>;
type MayRetry = NonNullable<RequestContext['mayRetry']>;

const stops = new WeakMap<RequestContext, LazyAbortSignal>();

/** Returns the context of a request. Its AbortSignal is created when it is read. */
export function ownContext(stop: LazyAbortSignal, emit: Emit, mayRetry: MayRetry): RequestContext {
  const context: RequestContext = {
    get signal() {
      return stop.signal;
    },
    emit,
    mayRetry,
  };
  stops.set(context, stop);
  return context;
}

/** Returns the stop of a context of {@link ownContext}; undefined for any other and for a copy, whose signal may differ. */
export function stopOf(context: RequestContext): LazyAbortSignal | undefined {
  return stops.get(context);
}

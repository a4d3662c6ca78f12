import type { LazyAbortSignal } from '../values/lazy-abort-signal.ts';
import type { RequestContext } from './agent.ts';

type Emit = NonNullable<RequestContext['emit']>;
type MayRetry = NonNullable<RequestContext['mayRetry']>;

const stopKey = Symbol('stop');

/** One property for all contexts: with an accessor of its own, each would have a hidden class of its own. */
const signalProperty: PropertyDescriptor & ThisType<OwnContext> = {
  get() {
    return this[stopKey].signal;
  },
  enumerable: true,
};

class OwnContext implements RequestContext {
  declare readonly signal: AbortSignal;
  readonly emit: Emit;
  readonly mayRetry: MayRetry;
  readonly [stopKey]: LazyAbortSignal;
  /** Unlike the other fields, it is in no copy, whose signal may be another. */
  readonly #stop: LazyAbortSignal;

  constructor(stop: LazyAbortSignal, emit: Emit, mayRetry: MayRetry) {
    this.emit = emit;
    this.mayRetry = mayRetry;
    this[stopKey] = stop;
    this.#stop = stop;
    Object.defineProperty(this, 'signal', signalProperty);
  }

  static stopOf(context: RequestContext): LazyAbortSignal | undefined {
    return #stop in context ? context.#stop : undefined;
  }
}

/** Returns the context of a request. Its AbortSignal is created when it is read. */
export function ownContext(stop: LazyAbortSignal, emit: Emit, mayRetry: MayRetry): RequestContext {
  return new OwnContext(stop, emit, mayRetry);
}

/**
 * Returns the stop of a context of {@link ownContext}, which needs no AbortSignal; undefined for any other, and for a
 * copy.
 */
export const stopOf: (context: RequestContext) => LazyAbortSignal | undefined = OwnContext.stopOf;

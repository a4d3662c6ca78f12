import type { ApprovalRequestedEvent, LiveEvent } from '../events/event.ts';
import type { State } from '../events/state.ts';
import type { ModelResponse } from '../interfaces/agent.ts';
import type { Tool } from '../interfaces/tool.ts';
import type { Feed } from '../run/feed.ts';
import type { RunConfig } from '../run/options.ts';
import type { Log } from './log.ts';
import type { Stopwatch } from './stopwatch.ts';

/** The beginning of a conversation in the cache of a provider. */
export interface CachedPrefix {
  readonly provider: string;
  readonly model: string;
  readonly tokens: number;
  /** Time of the response, on the monotonic clock. */
  readonly at: number;
}

/** A run as an action sees it: its configuration, its state, and the only ways to record and emit events. */
export interface RunContext {
  readonly config: RunConfig;
  readonly state: State;
  readonly tools: ReadonlyMap<string, Tool>;
  /** True once the run must stop. */
  readonly isStopping: boolean;
  /** Aborted when the run must stop. Created when it is first read: `isStopping` and `onStop` need none. */
  readonly signal: AbortSignal;
  /** The request that is being sent, which stops with the run before the listeners are called. */
  sending: { stopWith(reason: unknown): void } | undefined;
  /** Calls the listener when the run must stop, before the listeners of the signal. Returns a function that removes it. */
  onStop(listener: (reason: unknown) => void): () => void;
  /** Records events. If it returns false, the log accepts no more: no further effect may start. */
  readonly log: Pick<Log, 'record'>;
  emit(event: LiveEvent): void;
  /** Measures the time limit; held while a user decides. */
  readonly clock: Pick<Stopwatch, 'hold' | 'left'>;
  /** Resolves when this approval is decided or has expired, or the run must stop. */
  decided(request: ApprovalRequestedEvent): Promise<void>;
  /** Holds the response that is being received. */
  readonly feed: Pick<Feed, 'soFar'>;
  /** Called when a message of the user has arrived, or the run must stop; for the call that waits. */
  wake: () => void;
  /** What the cache of the provider contains of the conversation; undefined if it has changed since. */
  cached: CachedPrefix | undefined;
  /** The last response, for the result. */
  lastResponse: ModelResponse | undefined;
}

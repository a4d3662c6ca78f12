import type { ApprovalRequestedEvent, EventBody, LiveEvent } from '../events/event.ts';
import type { State } from '../events/state.ts';
import type { ModelResponse } from '../interfaces/agent.ts';
import type { Tool } from '../interfaces/tool.ts';
import type { AssistantPart } from '../values/message.ts';
import type { AppendOptions } from './log.ts';
import type { RunConfig } from './options.ts';
import type { Stopwatch } from './stopwatch.ts';

/** One run as an action sees it: its configuration, its state, and the only ways to change what is recorded and shown. */
export interface RunContext {
  readonly config: RunConfig;
  readonly state: State;
  readonly tools: ReadonlyMap<string, Tool>;
  /** Aborted when the run must stop. */
  readonly signal: AbortSignal;
  /** Calls the listener when the run must stop, before the listeners of the signal. Returns what removes it. */
  onStop(listener: () => void): () => void;
  /** Records events: the only way into the log. False when the log takes no more: no further effect may start. */
  record(events: readonly EventBody[], options?: AppendOptions): boolean | Promise<boolean>;
  emit(event: LiveEvent): void;
  /** Measures the time limit; held while a person decides. */
  readonly clock: Pick<Stopwatch, 'hold'>;
  /** Resolves when a person, or the passing of time, has decided about this approval, or the run must stop. */
  decided(request: ApprovalRequestedEvent): Promise<void>;
  /** Returns the text and reasoning of the response that is being received, as the log may keep them. */
  responseSoFar(): readonly AssistantPart[];
  /** The last response, for the result. */
  lastResponse: ModelResponse | undefined;
}

import type { ContextPolicy } from '../context/context.ts';
import type { ApprovalRequestedEvent, EventBody, LiveEvent } from '../events/event.ts';
import type { State } from '../events/state.ts';
import type { Agent, ModelResponse, OutputShape, RequestConfig } from '../interfaces/agent.ts';
import type { Gate } from '../interfaces/gate.ts';
import type { Budget, Pricing } from '../interfaces/limits.ts';
import type { Tool } from '../interfaces/tool.ts';
import type { AssistantPart } from '../values/message.ts';
import type { Runtime } from '../values/runtime.ts';

/** Whether a step happened now or its result came from an engine's journal. */
export interface StepOutcome {
  readonly replayed: boolean;
  /** False when the log no longer takes events: no further effect may start. */
  readonly recorded: boolean;
}

/** What recording a step has to be sure of. */
export interface StepOptions {
  /** Even a power cut must not make the step come again. */
  readonly durable?: boolean;
}

/**
 * Runs one effect and records the events it returns: the only way into the log, and the only thing a
 * durable engine replaces. Names are unique within a session and come from positions, never from time.
 */
export type Step = (
  name: string,
  effect: () => readonly EventBody[] | Promise<readonly EventBody[]>,
  how?: StepOptions,
) => Promise<StepOutcome>;

/** All that performing an action needs. One object per run. */
export interface RunContext {
  readonly sessionId: string;
  readonly agent: Agent;
  readonly tools: ReadonlyMap<string, Tool>;
  /** The tools as declared to the model: the same array for the whole run, so that providers can cache it. */
  readonly declared: readonly Tool[];
  readonly system?: string | readonly string[];
  readonly config: RequestConfig;
  readonly output?: OutputShape;
  /** The tool by which a model without native structured output gives its answer. */
  readonly answerTool?: Tool;
  readonly toolErrors: 'continue' | 'stop-batch';
  readonly toolScheduling: 'parallel' | 'sequential';
  /** Whether a batch of calls is left after the first that runs, the others to be gone on with later. */
  readonly oneCall: boolean;
  readonly gate: Gate;
  readonly context?: ContextPolicy;
  readonly budget: Budget;
  readonly pricing: Pricing;
  readonly allowUnpriced: boolean;
  readonly attended: boolean;
  readonly approvalMs?: number;
  readonly runtime: Runtime;
  readonly state: State;
  /** Aborted when the run must stop. */
  readonly signal: AbortSignal;
  /** Calls the listener when the run must stop, before those who listen to the signal. Returns what takes it back. */
  whenStopped(listener: () => void): () => void;
  readonly step: Step;
  live(event: LiveEvent): void;
  /** Text and reasoning of the answer that is being given, as the log may keep them. */
  soFar(): readonly AssistantPart[];
  /** Keeps the last answer for the result. */
  answered(response: ModelResponse): void;
  /** Stops the run's clock while a person decides; returns what starts it again. */
  pauseClock(): () => void;
  /** Resolves when a person, or the passing of time, has decided about this approval, or the run must stop. */
  decided(request: ApprovalRequestedEvent): Promise<void>;
}

import type { StopReason } from '../interfaces/agent.ts';
import type { LimitName } from '../interfaces/limits.ts';
import type { ExecutionMetrics } from '../interfaces/metrics.ts';
import { noMetrics } from '../interfaces/metrics.ts';
import type { ErrorData } from '../values/errors.ts';
import type { Message, ToolCallPart, ToolResultMessage, UserMessage } from '../values/message.ts';
import type { ApprovalRequestedEvent, CallPosition, FinishedEvent } from './event.ts';
import type { Batch } from './repetition.ts';

/** What the user decided about a call, or that no decision was made yet. */
export interface Approval {
  readonly request: ApprovalRequestedEvent;
  readonly decision?: 'allow' | 'deny' | 'expired' | 'superseded';
  readonly message?: string;
}

/** A call of the latest answer. The calls of an answer stay open together until each has its result. */
export interface OpenCall extends CallPosition {
  readonly part: ToolCallPart;
  readonly started: boolean;
  /** The process that started it is gone and left no result. */
  readonly orphaned: boolean;
  readonly approval?: Approval;
  readonly result?: ToolResultMessage;
  /** Its result is the answer that was asked for. */
  readonly final?: boolean;
}

/**
 * Where a session stands: what folding its events gives, and nothing else. Only `fold` changes it.
 *
 * Invariants: `messages` holds no call without its result, except those of `calls`, which belong to its
 * last message; a message once in the list is never changed.
 */
export interface State {
  /** Sequence number of the last folded event. */
  seq: number;
  /** Wall clock of the last folded event, ISO 8601. */
  time: string;
  /** The run that the last folded event belongs to. */
  runId: string;
  messages: Message[];
  calls: OpenCall[];
  /** Said during the run and not yet placed. */
  steering: UserMessage[];
  /** Answers of the model in the whole session: makes call places unique. */
  answers: number;
  /** Why the latest answer of this run ended; absent as soon as something happened that needs a new answer. */
  stopReason: StopReason | undefined;
  /** Requests answered in this run. */
  turns: number;
  /** Tools started in this run. */
  toolCalls: number;
  metrics: ExecutionMetrics;
  stop: 'cancelled' | 'timeout' | undefined;
  /** A limit was reached and one closing answer is wanted. */
  closing: LimitName | undefined;
  failure: ErrorData | undefined;
  /** Whether the conversation was made smaller, or could not be, since the latest answer. */
  compacted: boolean;
  /** The latest turn whose calls all have their results, as long as nothing new was said since. */
  batch: Batch | undefined;
  /** When that turn ended: ISO 8601, and the time that the run had spent on the model by then. */
  batchEnd: { readonly time: string; readonly modelMs: number } | undefined;
  /** How many times in a row that turn was taken without waiting: same calls, same arguments, same results. */
  repeats: number;
  /** Whether the model has been informed that it repeats itself. */
  noticed: boolean;
  finished: FinishedEvent | undefined;
  /** Input and output tokens of the latest answer: what the conversation up to it weighs. */
  contextTokens: number;
  /** Number of messages that `contextTokens` covers. */
  contextMessages: number;
}

/** The state of a session in which nothing has happened. */
export function emptyState(): State {
  return {
    seq: 0,
    time: '',
    runId: '',
    messages: [],
    calls: [],
    steering: [],
    answers: 0,
    stopReason: undefined,
    turns: 0,
    toolCalls: 0,
    metrics: noMetrics,
    stop: undefined,
    closing: undefined,
    failure: undefined,
    compacted: false,
    batch: undefined,
    batchEnd: undefined,
    repeats: 0,
    noticed: false,
    finished: undefined,
    contextTokens: 0,
    contextMessages: 0,
  };
}

/** A state that can be folded on without the first one noticing. Messages are shared: they never change. */
export function copyState(state: State): State {
  return { ...state, messages: [...state.messages], calls: [...state.calls], steering: [...state.steering] };
}

/** Calls that have no result yet, in the order the model made them. */
export function unanswered(state: State): OpenCall[] {
  return state.calls.filter((call) => call.result === undefined);
}

/** Calls that wait for a person. */
export function undecided(state: State): OpenCall[] {
  return state.calls.filter(
    (call) =>
      call.result === undefined && call.approval !== undefined && call.approval.decision === undefined,
  );
}

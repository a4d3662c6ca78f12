// Generated from events/schema.ts by `npm run generate -- events`. Change the schema, not this file.
import type {
  AssistantPart,
  ChangeDigest,
  ErrorData,
  ExecutionMetrics,
  LimitName,
  Message,
  ReachedLimit,
  RequestUsage,
  StopReason,
  ToolResultPart,
  TriedModel,
  Usage,
  UserPart,
} from '../values/stored-values.ts';

/** An event without the position that the log assigns. */
export type EventBody =
  | UserEvent
  | HistoryEvent
  | AssistantEvent
  | AskFailedEvent
  | ToolStartedEvent
  | ToolResultEvent
  | StepEvent
  | ApprovalRequestedEvent
  | ApprovalDecidedEvent
  | CompactedEvent
  | SpentEvent
  | StopRequestedEvent
  | NoticeEvent
  | ResumedEvent
  | FinishedEvent;

/** A message from a user or a program. `steer` marks a message sent during a run. */
export interface UserEvent {
  readonly type: 'user';
  readonly content: readonly UserPart[];
  readonly steer?: boolean;
}

/** An imported conversation; always the first event of its session. */
export interface HistoryEvent {
  readonly type: 'history';
  readonly messages: readonly Message[];
}

/** A model response. */
export interface AssistantEvent {
  readonly type: 'assistant';
  readonly content: readonly AssistantPart[];
  readonly usage: Usage;
  readonly stopReason: StopReason;
  readonly provider: string;
  readonly model: string;
  readonly attempts: number;
  readonly wasted: Usage;
  readonly durationMs: number;
  /** Cost of the response in US dollars; absent if the price is unknown. */
  readonly usd?: number;
  /** The models that failed or were skipped before this one, in order. */
  readonly tried?: readonly TriedModel[];
}

/** A model request failed after all retries, or the conversation could not be shortened. */
export interface AskFailedEvent {
  readonly type: 'ask_failed';
  readonly error: ErrorData;
  readonly durationMs: number;
  /** True if the failure occurred while the conversation was being shortened, with or without a model request. */
  readonly compacting?: boolean;
  /** The text from the last attempt, with the reasoning that precedes the text. Absent if there is no text. */
  readonly partial?: readonly AssistantPart[];
  /** Cost of `error.wasted` in US dollars; absent if nothing was used or the price is unknown. */
  readonly usd?: number;
  readonly provider?: string;
  /** The requested model. If the agent has several, `error.tried` lists those that failed or were skipped. */
  readonly model?: string;
}

/** A tool is about to run. If this event has no result after a crash, the outcome is unknown. */
export interface ToolStartedEvent {
  readonly turn: number;
  readonly index: number;
  readonly callId: string;
  readonly toolName: string;
  readonly type: 'tool_started';
  readonly arguments: Record<string, unknown>;
  /** The call waits until this time, in milliseconds since 1970, before its tool runs. Absent if the call does not wait. */
  readonly waitUntil?: number;
}

/** The result of a call: the output of its tool, or an error if permission was denied or the arguments were invalid. */
export interface ToolResultEvent {
  readonly turn: number;
  readonly index: number;
  readonly callId: string;
  readonly toolName: string;
  /** A short phrase for users. */
  readonly summary?: string;
  /** A unified diff of the changes, for users. */
  readonly diff?: string;
  readonly type: 'tool_result';
  readonly content: readonly ToolResultPart[];
  readonly isError: boolean;
  readonly durationMs: number;
  /** True if the tool never started. */
  readonly notRun?: boolean;
  /** True if a gate or a user denied the call. */
  readonly denied?: boolean;
  /** True if the later calls in the same response are not run. */
  readonly stopsBatch?: boolean;
  /** True if this result is the requested output: no further response is needed. */
  readonly final?: boolean;
  /**
   * True if the content may contain text that other people wrote. Later calls to tools that send data require a decision.
   */
  readonly untrusted?: boolean;
  /** References to the complete text of long output; `content` contains its start and end. */
  readonly blobs?: readonly BlobReference[];
}

/** A reference to text stored outside the log. */
export interface BlobReference {
  readonly id: string;
  /** Size of the complete text in bytes. */
  readonly bytes: number;
}

/** A step of a call that is running, such as what a sub-agent said or called. For users: no model receives it. */
export interface StepEvent {
  readonly turn: number;
  readonly index: number;
  readonly callId: string;
  readonly toolName: string;
  readonly type: 'step';
  readonly text: string;
  /** The tool that this step called; `text` is then what it was called with. */
  readonly called?: string;
  /** True if the step failed. */
  readonly isError?: boolean;
}

/**
 * A user must allow or deny a call or a higher limit. The decision must name this approval id, and only the first decision
 * counts.
 */
export interface ApprovalRequestedEvent {
  readonly turn: number;
  readonly index: number;
  readonly callId: string;
  readonly toolName: string;
  readonly summary?: string;
  readonly diff?: string;
  readonly type: 'approval_requested';
  readonly approvalId: string;
  readonly arguments: Record<string, unknown>;
  /** Hash of the tool, its arguments, `changes` and `after`. It ensures that only the approved call is executed. */
  readonly hash: string;
  /**
   * All changes that the call would make, if its tool knows them. If they differ when the call is about to run, the user is
   * asked again.
   */
  readonly changes?: readonly ChangeDigest[];
  /** If `changes` is absent: the calls in the same response that run first and can change what this call does. */
  readonly after?: readonly string[];
  /** True if the user allowed the call before, but it would now do something different from what the user was shown. */
  readonly isRepeated?: boolean;
  /** The wall-clock time when the request expires, in milliseconds since 1970. Absent if the request does not expire. */
  readonly expiresAt?: number;
  readonly subject?: string;
  /**
   * The reason why the tool requires a user to decide. A rule that covers more than this call cannot replace that decision.
   */
  readonly mustAsk?: string;
  /**
   * The limit that was reached. If present, the decision is about this limit, not about a call: `allow` raises the limit.
   */
  readonly limit?: ReachedLimit;
}

/** The outcome of an approval request: a user decided, or the request expired or was superseded by a new message. */
export interface ApprovalDecidedEvent {
  readonly type: 'approval_decided';
  readonly approvalId: string;
  readonly decision: 'allow' | 'deny' | 'expired' | 'superseded';
  readonly message?: string;
  /**
   * How much is added to the limit that was reached. If absent, the limit is raised by the amount that the approval request
   * offered.
   */
  readonly more?: number;
  /** Who decided, as named by the calling program, such as a token of the server. */
  readonly by?: string;
  /** Time until the decision, in milliseconds; not counted toward the time limit. */
  readonly waitedMs: number;
}

/** Replaces the messages before `upTo` (an index into the folded messages) with a summary. */
export interface CompactedEvent {
  readonly type: 'compacted';
  readonly upTo: number;
  readonly summary: string;
  /** Estimated size of the conversation before, in tokens. */
  readonly tokensBefore?: number;
  /** Estimated size of the conversation after, in tokens. */
  readonly tokensAfter?: number;
  /** Usage of the requests that created the summary. */
  readonly spent?: RequestUsage;
  readonly provider?: string;
  /** The model that responded last. Absent if no request was sent. */
  readonly model?: string;
}

/**
 * The usage of requests that the loop did not send itself: those of a sub-agent, another program, a tool or an assistant's
 * memory.
 */
export interface SpentEvent {
  readonly type: 'spent';
  /**
   * The source of the requests: `agent` (a sub-agent), `delegate` (another program), `memory` (a summary for the memory),
   * `embedding`, or `tool` (anything else). More values may be added later.
   */
  readonly who: string;
  readonly spent: RequestUsage;
  readonly provider?: string;
  readonly model?: string;
  /** The call that they were sent for. */
  readonly callId?: string;
  readonly toolName?: string;
  /**
   * The id of their reservation in a budget store. After a crash, the process that resumes the session settles the
   * reservation.
   */
  readonly reservation?: string;
  /** The session that sent them, if its log is in the same store. Their cost is counted there. */
  readonly session?: string;
}

/**
 * The run was cancelled, its time limit was reached, or another limit was reached and one closing response is still needed.
 * The event is stored so that the cancellation or limit still applies after a crash.
 */
export interface StopRequestedEvent {
  readonly type: 'stop_requested';
  readonly reason: 'cancelled' | 'timeout' | 'limit';
  /** The limit that was reached, if the reason is `limit`. */
  readonly limit?: LimitName;
}

/** A message from the runtime to the model. Occurs only between two turns. */
export interface NoticeEvent {
  readonly type: 'notice';
  /** The machine-readable reason: `no_progress` if the model repeats a turn. More values may be added later. */
  readonly code: string;
  /** The text that the model sees. */
  readonly text: string;
}

/** A session is resumed after a crash or a wait. */
export interface ResumedEvent {
  readonly type: 'resumed';
}

/** The end of a run; always its last event. */
export interface FinishedEvent {
  readonly type: 'finished';
  readonly status: RunStatus;
  readonly limit?: LimitName;
  readonly error?: ErrorData;
  readonly metrics: ExecutionMetrics;
}

/** The outcome of a run. */
export type RunStatus =
  | 'complete'
  | 'max_tokens'
  | 'refusal'
  | 'limit'
  | 'cancelled'
  | 'timeout'
  | 'waiting'
  | 'failed';

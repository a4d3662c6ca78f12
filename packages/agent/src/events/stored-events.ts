// Generated from events/schema.ts by `npm run generate -- events`. Change the schema, not this file.
import type {
  AssistantPart,
  ErrorData,
  ExecutionMetrics,
  LimitName,
  Message,
  RequestUsage,
  StopReason,
  ToolResultPart,
  Usage,
  UserPart,
} from '../values/stored-values.ts';

/** What happened, before the log gave it a place. */
export type EventBody =
  | UserEvent
  | HistoryEvent
  | AssistantEvent
  | AskFailedEvent
  | ToolStartedEvent
  | ToolResultEvent
  | ApprovalRequestedEvent
  | ApprovalDecidedEvent
  | CompactedEvent
  | StopRequestedEvent
  | NoticeEvent
  | ResumedEvent
  | FinishedEvent;

/** A person or program said something. `steer` marks what was said during a run. */
export interface UserEvent {
  readonly type: 'user';
  readonly content: readonly UserPart[];
  readonly steer?: boolean;
}

/** A conversation that began elsewhere. Only ever the first event of a session. */
export interface HistoryEvent {
  readonly type: 'history';
  readonly messages: readonly Message[];
}

/** The model answered. */
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
  /** What the answer cost in US dollars; absent when the price is unknown. */
  readonly usd?: number;
}

/** A model request failed for good, or the conversation could not be made smaller. */
export interface AskFailedEvent {
  readonly type: 'ask_failed';
  readonly error: ErrorData;
  readonly durationMs: number;
  /** True when it was about making the conversation smaller, whether or not a model was asked. */
  readonly compacting?: boolean;
  /**
   * What the last attempt had said until it ended: text, and the reasoning before it. Absent without text.
   */
  readonly partial?: readonly AssistantPart[];
  /** What `error.wasted` cost in US dollars; absent when nothing was used or the price is unknown. */
  readonly usd?: number;
}

/** A tool is about to run. After a crash this event without a result means: outcome unknown. */
export interface ToolStartedEvent {
  readonly turn: number;
  readonly index: number;
  readonly callId: string;
  readonly toolName: string;
  readonly type: 'tool_started';
  readonly arguments: Record<string, unknown>;
}

/** A call was answered: by its tool, by a denied permission, or because its arguments were not valid. */
export interface ToolResultEvent {
  readonly turn: number;
  readonly index: number;
  readonly callId: string;
  readonly toolName: string;
  /** One short phrase for watchers. */
  readonly summary?: string;
  /** A unified diff of what changed, for watchers. */
  readonly diff?: string;
  readonly type: 'tool_result';
  readonly content: readonly ToolResultPart[];
  readonly isError: boolean;
  readonly durationMs: number;
  /** True when the tool never started. */
  readonly notRun?: boolean;
  /** True when a gate or a person refused the call. */
  readonly denied?: boolean;
  /** The calls after this one in the same answer are not run. */
  readonly stopsBatch?: boolean;
  /** This result is the answer that was asked for: no further answer is needed. */
  readonly final?: boolean;
  /** Where the whole of a long output is kept; `content` holds its head and tail. */
  readonly blobs?: readonly BlobReference[];
}

/** A text that is kept outside the log. */
export interface BlobReference {
  readonly id: string;
  /** Size of the whole in bytes. */
  readonly bytes: number;
}

/** A person is asked. The answer must name this id and counts once. */
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
  /** Hash of tool and arguments: what was approved is what will run. */
  readonly hash: string;
  /** Wall clock, milliseconds since 1970. Absent: does not expire. */
  readonly expiresAt?: number;
  readonly subject?: string;
  /**
   * Why the tool wants a person to look at this call; no rule that covers more than this call may answer it.
   */
  readonly mustAsk?: string;
}

/** A person, or the passing of time, decided. */
export interface ApprovalDecidedEvent {
  readonly type: 'approval_decided';
  readonly approvalId: string;
  readonly decision: 'allow' | 'deny' | 'expired' | 'superseded';
  readonly message?: string;
  /** How long the decision took, in milliseconds; not counted towards the time limit. */
  readonly waitedMs: number;
}

/** Messages before `upTo` (an index into the folded messages) are replaced by a summary. */
export interface CompactedEvent {
  readonly type: 'compacted';
  readonly upTo: number;
  readonly summary: string;
  /** What the models used that were asked for the summary. */
  readonly spent?: RequestUsage;
}

/**
 * The run was cancelled, its time is up, or a limit was reached and one closing answer is still wanted.
 * Stored, or a crash after it would revive the run.
 */
export interface StopRequestedEvent {
  readonly type: 'stop_requested';
  readonly reason: 'cancelled' | 'timeout' | 'limit';
  /** With reason `limit`: which one. */
  readonly limit?: LimitName;
}

/** The runtime tells the model something that neither a user nor a tool said. Only ever between two turns. */
export interface NoticeEvent {
  readonly type: 'notice';
  /** Why, as a word for programs: `no_progress` when the model repeats a turn. Further words may follow. */
  readonly code: string;
  /** What the model reads. */
  readonly text: string;
}

/** A session is resumed after a crash or a wait. */
export interface ResumedEvent {
  readonly type: 'resumed';
}

/** A run is over. Always its last event. */
export interface FinishedEvent {
  readonly type: 'finished';
  readonly status: RunStatus;
  readonly limit?: LimitName;
  readonly error?: ErrorData;
  readonly metrics: ExecutionMetrics;
}

/** How a run ended. */
export type RunStatus =
  | 'complete'
  | 'max_tokens'
  | 'refusal'
  | 'limit'
  | 'cancelled'
  | 'timeout'
  | 'waiting'
  | 'failed';

import type { CacheBreak, StopReason } from '../interfaces/agent.ts';
import type { LimitName } from '../interfaces/limits.ts';
import type { ExecutionMetrics, RequestUsage } from '../interfaces/metrics.ts';
import type { ErrorData } from '../values/errors.ts';
import type { AssistantMessage, Message, ToolResultPart, UserPart } from '../values/message.ts';
import type { Usage } from '../values/usage.ts';

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

/** Where a call stands: its turn within the session, and its place in the answer. The provider's id may repeat. */
export interface CallPosition {
  readonly turn: number;
  readonly index: number;
}

/** A person or program said something. `steer` marks what was said while a run was under way. */
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
  readonly content: AssistantMessage['content'];
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
  /** What the last attempt had said until it ended: text, and the reasoning before it. Absent without text. */
  readonly partial?: AssistantMessage['content'];
  /** What `error.wasted` cost in US dollars; absent when nothing was used or the price is unknown. */
  readonly usd?: number;
}

/** A tool is about to run. After a crash this event without a result means: outcome unknown. */
export interface ToolStartedEvent extends CallPosition {
  readonly type: 'tool_started';
  readonly callId: string;
  readonly toolName: string;
  readonly arguments: Record<string, unknown>;
}

/** A call was answered: by its tool, by a denied permission, or because its arguments were no good. */
export interface ToolResultEvent extends CallPosition {
  readonly type: 'tool_result';
  readonly callId: string;
  readonly toolName: string;
  readonly content: readonly ToolResultPart[];
  readonly isError: boolean;
  readonly durationMs: number;
  /** True when the tool never started. */
  readonly notRun?: boolean;
  /** True when a gate or a person refused the call. */
  readonly denied?: boolean;
  /** One short phrase for watchers. */
  readonly summary?: string;
  /** A unified diff of what changed, for watchers. */
  readonly diff?: string;
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
export interface ApprovalRequestedEvent extends CallPosition {
  readonly type: 'approval_requested';
  readonly approvalId: string;
  readonly callId: string;
  readonly toolName: string;
  readonly arguments: Record<string, unknown>;
  /** Hash of tool and arguments: what was approved is what will run. */
  readonly hash: string;
  /** Wall clock, milliseconds since 1970. Absent: does not expire. */
  readonly expiresAt?: number;
  readonly subject?: string;
  /** Why the tool wants a person to look at this call; no rule that covers more than this call may answer it. */
  readonly mustAsk?: string;
  readonly summary?: string;
  readonly diff?: string;
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
 * Somebody cancelled, the time is up, or a limit was reached and one closing answer is still wanted.
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

/** A session is taken up again after a crash or a wait. */
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

/** What every event has, stored or not. */
export interface RunHead {
  /** Version of the event format. */
  readonly v: 1;
  /** Wall clock, ISO 8601. */
  readonly time: string;
  readonly runId: string;
  /** The event was copied from the session that this one was forked from, where its cost is counted. */
  readonly inherited?: true;
}

/** What the log adds to an event. */
export interface EventHead extends RunHead {
  /** Place in the session, from 1, without gaps. */
  readonly seq: number;
  /** `<session>-<seq>`: the same event has the same id wherever it is read. */
  readonly id: string;
}

/** An event as it is stored: what a run yields, what the store keeps, what a resume reads. */
export type Event = EventHead & EventBody;

/** An event that no store has accepted. Only the log of a session gives places, so it has neither `seq` nor `id`. */
export type UnstoredEvent = RunHead & { readonly seq?: never; readonly id?: never } & EventBody;

/**
 * How a run ended of which no store has the end: the store failed, another process has the session, or the run never
 * began. It takes the place of a stored `finished` event for those who watch the run.
 */
export type UnstoredEnd = UnstoredEvent & { readonly type: 'finished' };

/** The end of a run as it is shown, stored or not. */
export type RunEnd = Extract<Event, { readonly type: 'finished' }> | UnstoredEnd;

/** What readers see besides stored events while a run is under way. Never stored. */
export type LiveEvent =
  | { readonly type: 'started'; readonly v: 1; readonly sessionId: string; readonly runId: string }
  | { readonly type: 'text_delta'; readonly index: number; readonly text: string }
  | { readonly type: 'reasoning_delta'; readonly index: number; readonly text: string }
  | { readonly type: 'tool_input_delta'; readonly index: number; readonly json: string }
  | { readonly type: 'text'; readonly index: number; readonly text: string }
  | { readonly type: 'reasoning'; readonly index: number; readonly text: string }
  | {
      readonly type: 'tool_call';
      readonly index: number;
      readonly call: {
        readonly id: string;
        readonly toolName: string;
        readonly arguments: Record<string, unknown>;
      };
    }
  | {
      readonly type: 'retry';
      readonly attempt: number;
      readonly error: ErrorData;
      readonly delayMs: number;
      /** For how long requests are still made after the pause, in milliseconds; absent where their number is the limit. */
      readonly leftMs?: number;
    }
  | CacheBreak
  | {
      readonly type: 'status';
      readonly state: 'thinking' | 'running_tool' | 'waiting';
      readonly message?: string;
    }
  | { readonly type: 'progress'; readonly callId: string; readonly toolName: string; readonly text: string };

/** Everything a reader of a run may get. */
export type RunEvent = Event | UnstoredEnd | LiveEvent;

/** True for events that a store has accepted: only those have a `seq`. */
export function isStored(event: RunEvent | UnstoredEvent): event is Event {
  return 'seq' in event;
}

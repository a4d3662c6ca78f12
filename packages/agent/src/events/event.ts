import type { AgentEvent, CacheBreak } from '../interfaces/agent.ts';
import type { EventBody } from './stored-events.ts';

export type * from './stored-events.ts';

/** The position of a call: its turn in the session and its index in the response. The provider's id can repeat. */
export interface CallPosition {
  readonly turn: number;
  readonly index: number;
}

/** The fields of every event, stored or not. */
export interface RunHead {
  /** Version of the event format. */
  readonly v: 1;
  /** Wall-clock time, ISO 8601. */
  readonly time: string;
  readonly runId: string;
  /** The user that the run is for, as named by the calling program. */
  readonly user?: string;
  /** True if the event was copied from the session that this one was forked from. Its cost is counted there. */
  readonly inherited?: true;
}

/** The fields that the log adds to an event. */
export interface EventHead extends RunHead {
  /** Position in the session, starting at 1, without gaps. */
  readonly seq: number;
  /** `<session>-<seq>`: the same event has the same id everywhere. */
  readonly id: string;
}

/** A stored event: a run emits it, the store keeps it, and a resume reads it. */
export type Event = EventHead & EventBody;

/** An event that no store has accepted. It has neither `seq` nor `id`, because only the log of a session assigns them. */
export type UnstoredEvent = RunHead & { readonly seq?: never; readonly id?: never } & EventBody;

/**
 * The end of a run that no store contains: the store failed, another process claimed the session, or the run never
 * started. Readers of the run receive it instead of a stored `finished` event.
 */
export type UnstoredEnd = UnstoredEvent & { readonly type: 'finished' };

/** The end of a run, stored or not. */
export type RunEnd = Extract<Event, { readonly type: 'finished' }> | UnstoredEnd;

/** An event that readers receive during a run in addition to stored events. Never stored. */
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
  | Extract<AgentEvent, { readonly type: 'retry' }>
  | CacheBreak
  | {
      readonly type: 'status';
      readonly state: 'thinking' | 'running_tool' | 'waiting';
      readonly message?: string;
    }
  | { readonly type: 'progress'; readonly callId: string; readonly toolName: string; readonly text: string };

/** Any event that a reader of a run can receive. */
export type RunEvent = Event | UnstoredEnd | LiveEvent;

/** Returns whether a store has accepted the event: only then does it have a `seq`. False for any other value. */
export function isStored(event: RunEvent | UnstoredEvent): event is Event {
  try {
    return 'seq' in event;
  } catch {
    return false;
  }
}

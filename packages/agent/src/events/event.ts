import type { CacheBreak } from '../interfaces/agent.ts';
import type { ErrorData } from '../values/stored-values.ts';
import type { EventBody } from './stored-events.ts';

export type * from './stored-events.ts';

/** Where a call stands: its turn within the session, and its place in the answer. The provider's id may repeat. */
export interface CallPosition {
  readonly turn: number;
  readonly index: number;
}

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

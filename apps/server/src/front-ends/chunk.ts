import type { Event, UserPart } from '@cobbler/agent';
import type { ApprovalRequestedEvent, ReachedLimit, RunEnd } from '@cobbler/agent/events';

/** The kinds of text that a model writes. */
export type TextKind = 'text' | 'reasoning';

/** A call under our own id, because the provider's id may repeat. */
export interface OutgoingCall {
  readonly id: string;
  readonly toolName: string;
  readonly arguments: Record<string, unknown>;
}

/** An update for a front end, independent of its protocol. */
export type ResponseChunk =
  | {
      readonly type: 'said';
      readonly id: string;
      readonly content: readonly UserPart[];
      readonly isSteer: boolean;
    }
  /** A model response starts; the following chunks belong to it until the next one. */
  | { readonly type: 'answer'; readonly id: string }
  | { readonly type: 'open' | 'close'; readonly kind: TextKind; readonly id: string }
  | { readonly type: 'more'; readonly kind: TextKind; readonly id: string; readonly text: string }
  | { readonly type: 'call'; readonly answer: string; readonly call: OutgoingCall }
  /** Withdraws everything streamed so far of this response. */
  | { readonly type: 'void' }
  /** A question about a call, or, with `limit` in the request, about a reached limit: its id is that of the approval. */
  | { readonly type: 'asked'; readonly id: string; readonly request: ApprovalRequestedEvent }
  | {
      readonly type: 'decided';
      /** The id that the question was asked under. */
      readonly id: string;
      readonly approvalId: string;
      readonly allows: boolean;
      readonly reason?: string;
      /** The limit in question, with the amount that the answer adds; absent for a call. */
      readonly limit?: ReachedLimit;
    }
  | {
      readonly type: 'result';
      readonly id: string;
      readonly event: Extract<Event, { type: 'tool_result' }>;
      /** True if the call needed approval. */
      readonly wasAsked: boolean;
    }
  /** A call that will not get a result. */
  | { readonly type: 'left'; readonly id: string; readonly why: string }
  /** Only decisions of a user are missing. The calls named here run after them without a question of their own. */
  | { readonly type: 'waits'; readonly automaticCalls: readonly string[] }
  | { readonly type: 'ended'; readonly event: RunEnd };

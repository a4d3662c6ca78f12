import type { State } from '../events/state.ts';
import { snapshotState, snapshotText } from '../events/state.ts';
import { withArgumentErrors } from '../values/errors.ts';
import type { Message } from '../values/message.ts';

/** Number of events after which a new snapshot is due. Opening a session folds the events after the snapshot. */
const interval = 256;

/** Number of messages per chunk. */
const chunkLength = 250;

interface StoredMessages {
  /** Sequence number of the last folded event. */
  readonly seq: number;
  readonly messages: number;
  readonly last: Message | undefined;
}

/** A serialized snapshot. */
export interface SnapshotTexts {
  /** Sequence number of the last folded event. */
  readonly seq: number;
  /** The state without its messages. */
  readonly state: string;
  /** Number of messages. */
  readonly messages: number;
  /** Index of the first message in `chunks`; earlier messages are already stored. */
  readonly from: number;
  /** JSON arrays of messages, each with the index of its first message. */
  readonly chunks: readonly (readonly [first: number, text: string])[];
}

/**
 * Decides what to store of the states of sessions, so that opening one does not fold all its events. Messages never
 * change and are only added, so only new ones are written; a compaction creates a new list, which is written in full.
 */
export class SnapshotPlan {
  /** The stored part of each list of messages that a run uses. */
  readonly #stored = new WeakMap<readonly Message[], StoredMessages>();

  /** Returns the snapshot to write, or undefined if none is due. */
  due(state: State): SnapshotTexts | undefined {
    return withArgumentErrors('due', () => {
      const { messages, seq } = state;
      const stored = this.#stored.get(messages);
      if (seq - (stored?.seq ?? 0) < interval) return undefined;
      const from =
        stored !== undefined && messages[stored.messages - 1] === stored.last ? stored.messages : 0;
      const chunks: [number, string][] = [];
      for (let at = from; at < messages.length; at += chunkLength)
        chunks.push([at, JSON.stringify(messages.slice(at, at + chunkLength))]);
      const texts = { seq, state: snapshotText(state), messages: messages.length, from, chunks };
      this.#remember(messages, seq);
      return texts;
    });
  }

  /** Records that a snapshot was not written; the next one contains all messages. */
  failed(messages: readonly Message[]): void {
    this.#stored.delete(messages);
  }

  /** Returns the state of a stored snapshot; undefined if the messages are not those that it was stored with. */
  stateOf(
    row: { readonly seq: number; readonly messages: number; readonly state: string },
    messages: Message[],
  ): State | undefined {
    return withArgumentErrors('stateOf', () => {
      if (messages.length !== row.messages) return undefined;
      const state = snapshotState(row.state, messages);
      if (state?.seq !== row.seq) return undefined;
      this.#remember(messages, row.seq);
      return state;
    });
  }

  #remember(messages: readonly Message[], seq: number): void {
    this.#stored.set(messages, { seq, messages: messages.length, last: messages.at(-1) });
  }
}

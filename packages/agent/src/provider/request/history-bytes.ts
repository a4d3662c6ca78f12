import { AgentError } from '../../values/errors.ts';
import type { Message } from '../../values/message.ts';
import type { Wire } from '../wire/wire.ts';
import type { Departure, SentRequest } from './cache-break.ts';
import { copyOf } from './cache-lifetime.ts';
import type { TurnBytes } from './conversation-bytes.ts';
import { ConversationBytes } from './conversation-bytes.ts';
import type { ViewFor } from './normalize-history.ts';

/** Maximum number of cached continuations of one first message. Further forks are serialized again. */
const maxTracks = 4;

/** Maximum number of conversations kept even if nothing references their messages. */
const maxRecent = 8;

const noTracks: readonly ConversationBytes[] = [];

/** The turns of a request, and the previous request of the same conversation. */
export interface HistoryTurns extends TurnBytes {
  /** Undefined for the first request of a conversation. */
  readonly before: SentRequest | undefined;
  /** Undefined if the conversation only grew. */
  readonly departure: Departure | undefined;
  /** Records what is sent, so that the next request can be compared with it and its marks are kept. */
  readonly track: Pick<ConversationBytes, 'send'>;
}

/**
 * Caches the bytes of conversations, so that each message is serialized once, however often it is sent. Messages are
 * immutable, so the same object means the same bytes.
 *
 * H1. Bytes are only appended to a cached conversation. A history that differs from it continues in a copy, so two runs
 * forked from one history never write to each other's bytes, not even while they are being sent.
 * H2. The messages of a cached conversation are exactly those of its turns.
 */
export class HistoryBytes {
  readonly #wire: Wire;
  readonly #view: ViewFor;
  /** Tracks by first message, most recently used last. */
  readonly #tracks = new WeakMap<Message, ConversationBytes[]>();
  /** The most recently used tracks, newest last, because a reloaded history has none of the original message objects. */
  readonly #recent: ConversationBytes[] = [];

  constructor(wire: Wire, view: ViewFor) {
    this.#wire = wire;
    this.#view = view;
  }

  /** Returns the bytes of this history. @throws AgentError `invalid` for a history that no service would accept. */
  of(messages: readonly Message[]): HistoryTurns {
    const first = messages[0];
    if (first === undefined) {
      throw new AgentError({ kind: 'invalid', code: 'history', message: 'There is no message to send.' });
    }
    const tracks = this.#tracks.get(first) ?? noTracks;
    const track = tracks[0];
    // Usually the conversation has one continuation, which only grew since it was last sent.
    if (tracks.length !== 1 || track?.sent === undefined || track.turnsIn(messages) < track.length)
      return this.#changed(first, messages, tracks);
    track.extend(messages, this.#wire, this.#view);
    return this.#turnsOf(track, track.sent, undefined);
  }

  /** Returns the bytes of a new history, or of one that differs from what was sent. */
  #changed(first: Message, messages: readonly Message[], tracks: readonly ConversationBytes[]): HistoryTurns {
    const isContinued = (track: ConversationBytes) => track.isContinuedBy(messages);
    const known = tracks.findLast(isContinued) ?? this.#recent.findLast(isContinued);
    const track = this.#trackFor(first, messages, tracks);
    track.extend(messages, this.#wire, this.#view);
    const { sent, departure } =
      known === undefined && tracks.length === 0
        ? this.#copied(track)
        : { sent: known?.sent, departure: known?.departureOf(track) };
    // The timing of each continuation changes on its own.
    const before = sent && { ...sent, timing: copyOf(sent.timing) };
    return this.#turnsOf(track, before, departure);
  }

  #turnsOf(
    track: ConversationBytes,
    before: SentRequest | undefined,
    departure: Departure | undefined,
  ): HistoryTurns {
    if (this.#recent[this.#recent.length - 1] !== track) this.#use(track);
    const { bytes, marks } = track.currentBytes();
    return { bytes, marks, track, before, departure };
  }

  /** Returns the track that this history continues, or a copy of their common part if it differs from all. */
  #trackFor(
    first: Message,
    messages: readonly Message[],
    tracks: readonly ConversationBytes[],
  ): ConversationBytes {
    let best: ConversationBytes | undefined;
    let kept = 0;
    for (const track of tracks) {
      const turns = track.turnsIn(messages);
      if (best !== undefined && turns <= kept) continue;
      best = track;
      kept = turns;
    }
    if (best !== undefined && kept === best.length && tracks.at(-1) === best) return best;
    const track =
      best === undefined ? new ConversationBytes() : kept === best.length ? best : best.fork(kept);
    const others = tracks.filter((other) => other !== track);
    this.#tracks.set(first, [...others.slice(-(maxTracks - 1)), track]);
    return track;
  }

  /** Returns the last request of the conversation that this new track is a copy of, if any. */
  #copied(copy: ConversationBytes): { sent?: SentRequest | undefined; departure?: Departure | undefined } {
    for (let at = this.#recent.length - 1; at >= 0; at -= 1) {
      const track = this.#recent[at];
      const departure = track === copy ? false : track?.departureOfCopy(copy);
      if (departure !== false) return { sent: track?.sent, departure };
    }
    return {};
  }

  #use(track: ConversationBytes): void {
    const place = this.#recent.indexOf(track);
    if (place >= 0) this.#recent.splice(place, 1);
    this.#recent.push(track);
    if (this.#recent.length > maxRecent) this.#recent.shift();
  }
}

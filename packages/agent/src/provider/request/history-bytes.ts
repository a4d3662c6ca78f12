import { defined } from '../../values/defined.ts';
import { AgentError } from '../../values/errors.ts';
import type { Message } from '../../values/message.ts';
import type { Wire } from '../wire/wire.ts';
import type { Departure, Sent } from './cache-break.ts';
import type { TurnBytes } from './conversation-bytes.ts';
import { ConversationBytes } from './conversation-bytes.ts';
import type { ViewFor } from './normalize-history.ts';

/** How many ways to go on from one first message are kept. More forks than that are serialised again. */
const maxTracks = 4;

/** How many conversations are kept although their messages may be unreferenced. */
const maxRecent = 8;

/** The turns of a request, and the request of the same conversation before it. */
export interface HistoryTurns extends TurnBytes {
  /** Absent: this is the first request of a conversation. */
  readonly before?: Sent;
  /** Absent: the conversation only grew. */
  readonly departure?: Departure;
  /** To be told what is sent, so that the next request can be compared with it and its marks go on. */
  readonly track: Pick<ConversationBytes, 'send'>;
}

/**
 * Keeps the bytes of conversations, so that each message is serialised once however often it is sent.
 * Messages are immutable, so equal identity means equal bytes.
 *
 * H1. A track's bytes are only ever added to. A history that departs from a track goes on in a copy, so two
 *     runs forked from one history never write into each other's bytes, not even while they are being sent.
 * H2. A track's messages are exactly those of its turns.
 */
export class HistoryBytes {
  readonly #wire: Wire;
  readonly #view: ViewFor;
  /** By first message, the most recently used track last. */
  readonly #tracks = new WeakMap<Message, ConversationBytes[]>();
  /** The most recently used last: a history that was read back has none of the messages it was made of. */
  readonly #recent: ConversationBytes[] = [];

  constructor(wire: Wire, view: ViewFor) {
    this.#wire = wire;
    this.#view = view;
  }

  /**
   * The bytes of this history.
   * @throws AgentError `invalid` for a history that no service would accept.
   */
  of(messages: readonly Message[]): HistoryTurns {
    const [first] = messages;
    if (first === undefined) {
      throw new AgentError({ kind: 'invalid', code: 'history', message: 'There is no message to send.' });
    }
    const tracks = this.#tracks.get(first) ?? [];
    const goesOn = (track: ConversationBytes) => track.isContinuedBy(messages);
    const known = tracks.findLast(goesOn) ?? this.#recent.findLast(goesOn);
    const track = this.#trackFor(first, messages, tracks);
    track.extend(messages, this.#wire, this.#view);
    const before =
      known === undefined && tracks.length === 0
        ? this.#copied(track)
        : { sent: known?.sent, departure: known?.departureOf(track) };
    this.#use(track);
    return {
      ...track.asked(),
      track,
      ...defined({ before: before.sent, departure: before.departure }),
    };
  }

  /** The track that this history goes on; a copy of what they share when it departs from all. */
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

  /** What was sent of the conversation that this new track is a copy of, if of any. */
  #copied(copy: ConversationBytes): { sent?: Sent | undefined; departure?: Departure | undefined } {
    for (let at = this.#recent.length - 1; at >= 0; at -= 1) {
      const track = this.#recent[at];
      const departure = track === copy ? false : track?.departureOfCopy(copy);
      if (departure !== false) return { sent: track?.sent, departure };
    }
    return {};
  }

  #use(track: ConversationBytes): void {
    if (this.#recent.at(-1) === track) return;
    const place = this.#recent.indexOf(track);
    if (place >= 0) this.#recent.splice(place, 1);
    this.#recent.push(track);
    if (this.#recent.length > maxRecent) this.#recent.shift();
  }
}

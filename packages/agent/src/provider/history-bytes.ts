import { AgentError } from '../errors.ts';
import type { Message } from '../message.ts';
import { CallNames } from './call-names.ts';
import type { OpenCall, ViewedTurn, ViewFor } from './view.ts';
import { checkAnswered, openingTurn, sideOf, turnAt } from './view.ts';
import type { Turn, Wire } from './wire.ts';

/** How many ways to go on from one first message are kept. More forks than that are serialised again. */
const maxTracks = 4;

const encoder = new TextEncoder();
const comma = 44;

/** The turns of a request as bytes. Neither changes after it was given out. */
export interface TurnBytes {
  /** Items of the turns array, joined by commas. */
  readonly bytes: Uint8Array;
  /** Where the turns that end a cacheable prefix end: that of the request before and that of this one. */
  readonly marks: readonly number[];
}

interface KeptTurn {
  readonly side: Turn['side'];
  /** Messages up to and with this turn. */
  readonly upTo: number;
  /** Bytes up to and with this turn. */
  readonly end: number;
  readonly isEmpty: boolean;
  readonly open: readonly OpenCall[];
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
  readonly #tracks = new WeakMap<Message, Track[]>();

  constructor(wire: Wire, view: ViewFor) {
    this.#wire = wire;
    this.#view = view;
  }

  /**
   * The bytes of this history.
   * @throws AgentError `invalid` for a history that no service would accept.
   */
  of(messages: readonly Message[]): TurnBytes {
    const [first] = messages;
    if (first === undefined) {
      throw new AgentError({ kind: 'invalid', code: 'history', message: 'There is no message to send.' });
    }
    const track = this.#trackFor(first, messages);
    track.extend(messages, this.#wire, this.#view);
    return track.asked();
  }

  /** The track that this history goes on; a copy of what they share when it departs from all. */
  #trackFor(first: Message, messages: readonly Message[]): Track {
    const tracks = this.#tracks.get(first) ?? [];
    let best: Track | undefined;
    let kept = 0;
    for (const track of tracks) {
      const turns = track.turnsIn(messages);
      if (best !== undefined && turns <= kept) continue;
      best = track;
      kept = turns;
    }
    if (best !== undefined && kept === best.length && tracks.at(-1) === best) return best;
    const track = best === undefined ? new Track() : kept === best.length ? best : best.fork(kept);
    const others = tracks.filter((other) => other !== track);
    this.#tracks.set(first, [...others.slice(-(maxTracks - 1)), track]);
    return track;
  }
}

/** One conversation as it was sent so far. */
class Track {
  #buffer: Uint8Array<ArrayBuffer> = new Uint8Array(1024);
  #turns: KeptTurn[] = [];
  #messages: Message[] = [];
  #names = new CallNames();
  /** Place of the last turn of the user in the latest request, and in the one before that was shorter. */
  #latest = -1;
  #before = -1;

  get length(): number {
    return this.#turns.length;
  }

  get #end(): number {
    return this.#turns.at(-1)?.end ?? 0;
  }

  /** How many turns of this track the history begins with. */
  turnsIn(messages: readonly Message[]): number {
    const common = commonLength(this.#messages, messages);
    let count = this.#turns.length;
    while (count > 0 && (this.#turns[count - 1]?.upTo ?? 0) > common) count -= 1;
    const last = this.#turns[count - 1];
    const next = messages[last?.upTo ?? 0];
    // More words of the same side belong to the same turn, which is then another one.
    const grows = last !== undefined && last.upTo > 0 && next !== undefined && sideOf(next) === last.side;
    return grows ? count - 1 : count;
  }

  /** A track of its own that begins with the first `count` turns of this one. */
  fork(count: number): Track {
    const fork = new Track();
    fork.#turns = this.#turns.slice(0, count);
    fork.#messages = this.#messages.slice(0, fork.#turns.at(-1)?.upTo ?? 0);
    for (const turn of fork.#turns) for (const call of turn.open) fork.#names.give(call.wireId);
    fork.#reserve(fork.#end);
    fork.#buffer.set(this.#buffer.subarray(0, fork.#end));
    fork.#latest = this.#latest < count ? this.#latest : this.#before < count ? this.#before : -1;
    return fork;
  }

  /** Adds the turns that are not here yet. */
  extend(messages: readonly Message[], wire: Wire, view: ViewFor): void {
    if (this.#turns.length === 0 && messages[0]?.role === 'assistant') this.#add(openingTurn, messages, wire);
    while (this.#messages.length < messages.length) {
      const open = this.#turns.at(-1)?.open ?? [];
      this.#add(turnAt(messages, this.#messages.length, open, this.#names, view), messages, wire);
    }
    checkAnswered(this.#turns.at(-1)?.open ?? []);
  }

  /** Everything, as the request that is now made sends it. */
  asked(): TurnBytes {
    const last = this.#turns.findLastIndex((turn) => turn.side === 'user' && !turn.isEmpty);
    // The same history asked again keeps both its marks.
    if (last !== this.#latest) this.#before = this.#latest;
    this.#latest = last;
    const marked = [this.#turns[this.#before], this.#turns[this.#latest]];
    const marks = marked.filter((turn) => turn !== undefined).map((turn) => turn.end);
    return { bytes: this.#buffer.subarray(0, this.#end), marks };
  }

  #add(viewed: ViewedTurn, messages: readonly Message[], wire: Wire): void {
    const { turn, upTo, open } = viewed;
    let end = this.#end;
    const begin = end;
    for (const item of wire.turn(turn)) end = this.#write(JSON.stringify(item), end);
    this.#turns.push({ side: turn.side, upTo, end, isEmpty: end === begin, open });
    for (let at = this.#messages.length; at < upTo; at += 1) {
      const message = messages[at];
      if (message !== undefined) this.#messages.push(message);
    }
  }

  /** Writes one item, after a comma unless it is the first, and returns where it ends. */
  #write(json: string, from: number): number {
    let at = from;
    this.#reserve(at + 1 + json.length, at);
    if (at > 0) {
      this.#buffer[at] = comma;
      at += 1;
    }
    let rest = json;
    for (;;) {
      const { read, written } = encoder.encodeInto(rest, this.#buffer.subarray(at));
      at += written;
      if (read === rest.length) return at;
      // Room was made for plain ASCII; other characters take up to three bytes.
      rest = rest.slice(read);
      this.#reserve(at + rest.length * 3, at);
    }
  }

  /** Makes room. Bytes given out stay what they are: a larger buffer is another one. */
  #reserve(size: number, used = this.#end): void {
    if (size <= this.#buffer.length) return;
    const larger = new Uint8Array(Math.max(size, this.#buffer.length * 2));
    larger.set(this.#buffer.subarray(0, used));
    this.#buffer = larger;
  }
}

function commonLength(left: readonly Message[], right: readonly Message[]): number {
  const length = Math.min(left.length, right.length);
  let at = 0;
  while (at < length && left[at] === right[at]) at += 1;
  return at;
}

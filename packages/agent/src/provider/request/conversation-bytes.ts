import type { Message } from '../../values/message.ts';
import { CallNames } from '../wire/call-names.ts';
import type { Turn, Wire } from '../wire/wire.ts';
import type { Departure, Sent } from './cache-break.ts';
import type { UnansweredCall, ViewedTurn, ViewFor } from './normalize-history.ts';
import { checkAnswered, openingTurn, sideOf, turnAt } from './normalize-history.ts';

const encoder = new TextEncoder();
const comma = 44;

/** The turns of a request as bytes. Neither changes after it was given out. */
export interface TurnBytes {
  /** Items of the turns array, joined by commas. */
  readonly bytes: Uint8Array;
  /** Where the turns that end a cacheable prefix end: the one that was marked last, and the last of the user. */
  readonly marks: readonly number[];
}

interface KeptTurn {
  readonly side: Turn['side'];
  /** Messages up to and with this turn. */
  readonly upTo: number;
  /** Bytes up to and with this turn. */
  readonly end: number;
  readonly isEmpty: boolean;
  readonly open: readonly UnansweredCall[];
}

/** One conversation as it was sent so far: its messages are exactly those of its turns. */
export class ConversationBytes {
  #buffer: Uint8Array<ArrayBuffer> = new Uint8Array(1024);
  #turns: KeptTurn[] = [];
  #messages: Message[] = [];
  #names = new CallNames();
  #sent: Sent | undefined;
  /** Place of the turn that was marked last, and of the one before it. */
  #latest = -1;
  #before = -1;

  get length(): number {
    return this.#turns.length;
  }

  /** The last request that sent these turns; absent until there is one. */
  get sent(): Sent | undefined {
    return this.#sent;
  }

  get #end(): number {
    return this.#endOf(this.#turns.length);
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

  /** Whether these messages go on with this conversation: they hold the last one that was sent of it. */
  isContinuedBy(messages: readonly Message[]): boolean {
    const last = this.#messages.at(-1);
    if (last === undefined || this.#sent === undefined) return false;
    return messages[this.#messages.length - 1] === last || messages.includes(last);
  }

  /** Where a track that goes on with this one is not what was sent; nothing when it only adds to it. */
  departureOf(next: ConversationBytes): Departure | undefined {
    const messages = commonLength(this.#messages, next.#messages);
    if (messages === this.#messages.length) return undefined;
    // Other objects may still be the same words.
    const turns = this.#commonTurns(next);
    if (turns === this.#turns.length) return undefined;
    return this.#departureAt(Math.max(messages, this.#turns[turns - 1]?.upTo ?? 0));
  }

  /**
   * The same question for a history that was read from elsewhere, of which no message is the same object: equal
   * bytes tell. False for another conversation; to be the same it must be longer and hold the last turn of this
   * one, and if it departs from it begin alike at least.
   */
  departureOfCopy(copy: ConversationBytes): Departure | undefined | false {
    const count = this.#turns.length;
    if (this.#sent === undefined || count === 0 || count >= copy.#turns.length) return false;
    const common = this.#commonTurns(copy);
    if (common === count) return undefined;
    const last = this.#turnBytes(count - 1);
    const goesOn = copy.#turns.some((_, place) => place >= common && isEqual(last, copy.#turnBytes(place)));
    return common > 0 && goesOn && this.#departureAt(this.#turns[common - 1]?.upTo ?? 0);
  }

  /** A track of its own that begins with the first `count` turns of this one. */
  fork(count: number): ConversationBytes {
    const fork = new ConversationBytes();
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

  /** Everything, as a request that is now made sends it. */
  asked(): TurnBytes {
    const last = this.#lastOfUser;
    // The same history asked again keeps both its marks.
    const marked = [this.#turns[last === this.#latest ? this.#before : this.#latest], this.#turns[last]];
    const marks = marked.filter((turn) => turn !== undefined).map((turn) => turn.end);
    return { bytes: this.#buffer.subarray(0, this.#end), marks };
  }

  /** Notes that it was sent, and whether its marks were. */
  send(sent: Sent, isMarked: boolean): void {
    this.#sent = sent;
    const last = this.#lastOfUser;
    if (!isMarked || last === this.#latest) return;
    this.#before = this.#latest;
    this.#latest = last;
  }

  get #lastOfUser(): number {
    return this.#turns.findLastIndex((turn) => turn.side === 'user' && !turn.isEmpty);
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

  /** Where the first `count` turns end. */
  #endOf(count: number): number {
    return this.#turns[count - 1]?.end ?? 0;
  }

  /** How many turns have the same bytes in both tracks, counted from the beginning. */
  #commonTurns(other: ConversationBytes): number {
    const most = Math.min(this.#turns.length, other.#turns.length);
    let count = 0;
    while (count < most && isEqual(this.#turnBytes(count), other.#turnBytes(count))) count += 1;
    return count;
  }

  #turnBytes(index: number): Uint8Array {
    return this.#buffer.subarray(this.#endOf(index), this.#endOf(index + 1));
  }

  #departureAt(message: number): Departure {
    const turn = this.#turns.findIndex(({ upTo }) => upTo > message);
    return { message, bytes: this.#end - this.#endOf(turn) };
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

function isEqual(left: Uint8Array, right: Uint8Array): boolean {
  if (left.length !== right.length) return false;
  let at = 0;
  while (at < left.length && left[at] === right[at]) at += 1;
  return at === left.length;
}

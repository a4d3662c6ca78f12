import type { Message } from '../../values/message.ts';
import { CallNames } from '../wire/call-names.ts';
import type { Turn, Wire } from '../wire/wire.ts';
import type { Departure, SentRequest } from './cache-break.ts';
import type { UnansweredCall, ViewFor } from './normalize-history.ts';
import { noCalls, openingTurn, turnAt, withoutResult } from './normalize-history.ts';

const encoder = new TextEncoder();
const comma = 44;

/** The serialized turns of a request. Neither field changes after it is returned. */
export interface TurnBytes {
  /** Items of the turns array, joined by commas. */
  readonly bytes: Uint8Array;
  /** End offsets of the turns that end a cacheable prefix: the last marked one and the last user turn. */
  readonly marks: readonly number[];
}

interface KeptTurn {
  readonly side: Turn['side'];
  /** Number of messages up to and including this turn. */
  readonly upTo: number;
  /** Number of bytes up to and including this turn. */
  readonly end: number;
  readonly isEmpty: boolean;
  readonly open: readonly UnansweredCall[];
}

/** The part of a conversation that was sent so far: its messages are exactly those of its turns. */
export class ConversationBytes {
  #buffer: Uint8Array<ArrayBuffer> = new Uint8Array(1024);
  #turns: KeptTurn[] = [];
  #messages: Message[] = [];
  #names = new CallNames();
  /** The last request that sent these turns; undefined before the first. */
  sent: SentRequest | undefined;
  /** Number of turns. */
  length = 0;
  /** Number of bytes of all turns. */
  #end = 0;
  /** Index of the last user turn with content. */
  #lastOfUser = -1;
  /** Indexes of the last marked turn and of the one marked before it. */
  #latest = -1;
  #before = -1;

  /** Returns how many turns of this conversation the history starts with. */
  turnsIn(messages: readonly Message[]): number {
    const turns = this.#turns;
    const known = this.#messages;
    let common = 0;
    while (common < known.length && known[common] === messages[common]) common += 1;
    let count = turns.length;
    let last = turns[count - 1];
    while (last !== undefined && last.upTo > common) {
      count -= 1;
      last = turns[count - 1];
    }
    if (last === undefined || last.upTo === 0) return count;
    // Another message of the same side extends the turn, which then changes, as does a turn that was to be continued.
    const next = messages[last.upTo];
    const isLonger = next !== undefined && (last.side === 'assistant' || next.role !== 'assistant');
    return isLonger ? count - 1 : count;
  }

  /** Returns whether these messages continue this conversation, that is, contain the last message sent in it. */
  isContinuedBy(messages: readonly Message[]): boolean {
    const last = this.#messages.at(-1);
    if (last === undefined || this.sent === undefined) return false;
    return messages[this.#messages.length - 1] === last || messages.includes(last);
  }

  /** Returns where a continuation of this conversation differs from what was sent, or undefined if it only adds to it. */
  departureOf(next: ConversationBytes): Departure | undefined {
    const messages = commonLength(this.#messages, next.#messages);
    if (messages === this.#messages.length) return undefined;
    // Different objects can have the same content.
    const turns = this.#commonTurns(next);
    if (turns === this.#turns.length) return undefined;
    return this.#departureAt(Math.max(messages, this.#turns[turns - 1]?.upTo ?? 0));
  }

  /**
   * Like {@link departureOf}, for a history that was loaded again: its messages are different objects, so the bytes are
   * compared. Returns false for a different conversation. A copy must be longer than this conversation and contain its
   * last turn; a copy that differs must at least start with the same turn.
   */
  departureOfCopy(copy: ConversationBytes): Departure | undefined | false {
    const count = this.#turns.length;
    if (this.sent === undefined || count === 0 || count >= copy.#turns.length) return false;
    const common = this.#commonTurns(copy);
    if (common === count) return undefined;
    const last = this.#turnBytes(count - 1);
    const isContinued = copy.#turns.some(
      (_, place) => place >= common && isEqual(last, copy.#turnBytes(place)),
    );
    return common > 0 && isContinued && this.#departureAt(this.#turns[common - 1]?.upTo ?? 0);
  }

  /** Returns a copy with the first `count` turns. */
  fork(count: number): ConversationBytes {
    const fork = new ConversationBytes();
    fork.#turns = this.#turns.slice(0, count);
    fork.length = count;
    fork.#messages = this.#messages.slice(0, fork.#turns.at(-1)?.upTo ?? 0);
    for (const turn of fork.#turns) for (const call of turn.open) fork.#names.give(call.wireId);
    fork.#lastOfUser = fork.#turns.findLastIndex((turn) => turn.side === 'user' && !turn.isEmpty);
    const end = this.#endOf(count);
    fork.#reserve(end);
    fork.#buffer.set(this.#buffer.subarray(0, end));
    fork.#end = end;
    fork.#latest = this.#latest < count ? this.#latest : this.#before < count ? this.#before : -1;
    return fork;
  }

  extend(messages: readonly Message[], wire: Wire, view: ViewFor): void {
    const known = this.#messages;
    const turns = this.#turns;
    let open = turns[turns.length - 1]?.open ?? noCalls;
    while (known.length < messages.length) {
      const from = known.length;
      const isOpening = turns.length === 0 && messages[0]?.role === 'assistant';
      const viewed = isOpening ? openingTurn : turnAt(messages, from, open, this.#names, view);
      const { turn, upTo } = viewed;
      open = viewed.open;
      const items = wire.turn(turn);
      const start = this.#end;
      let end = start;
      for (let index = 0; index < items.length; index += 1)
        end = this.#write(JSON.stringify(items[index]), end);
      const isEmpty = end === start;
      if (turn.side === 'user' && !isEmpty) this.#lastOfUser = turns.length;
      this.#end = end;
      turns.push({ side: turn.side, upTo, end, isEmpty, open });
      this.length = turns.length;
      for (let at = from; at < upTo; at += 1) known.push(messages[at] as Message);
    }
    if (open[0] !== undefined) throw withoutResult(open[0]);
  }

  /** Returns all turns with the marks of a request made now. */
  currentBytes(): TurnBytes {
    const last = this.#lastOfUser;
    const marks: number[] = [];
    // If the same history is sent again, both marks stay.
    const earlier = this.#turns[last === this.#latest ? this.#before : this.#latest];
    if (earlier !== undefined) marks.push(earlier.end);
    const latest = this.#turns[last];
    if (latest !== undefined) marks.push(latest.end);
    return { bytes: this.#buffer.subarray(0, this.#end), marks };
  }

  /** Records a sent request, and whether its marks were sent. */
  send(sent: SentRequest, isMarked: boolean): void {
    this.sent = sent;
    const last = this.#lastOfUser;
    if (!isMarked || last === this.#latest) return;
    this.#before = this.#latest;
    this.#latest = last;
  }

  /** Returns the end offset of the first `count` turns. */
  #endOf(count: number): number {
    return this.#turns[count - 1]?.end ?? 0;
  }

  /** Returns the number of leading turns with the same bytes in both conversations. */
  #commonTurns(other: ConversationBytes): number {
    const maxCount = Math.min(this.#turns.length, other.#turns.length);
    let count = 0;
    while (count < maxCount && isEqual(this.#turnBytes(count), other.#turnBytes(count))) count += 1;
    return count;
  }

  #turnBytes(index: number): Uint8Array {
    return this.#buffer.subarray(this.#endOf(index), this.#endOf(index + 1));
  }

  #departureAt(message: number): Departure {
    const turn = this.#turns.findIndex(({ upTo }) => upTo > message);
    return { message, bytes: this.#end - this.#endOf(turn) };
  }

  /** Appends one item, after a comma unless it is the first, and returns its end offset. */
  #write(json: string, from: number): number {
    let at = from;
    if (at + 1 + json.length > this.#buffer.length) this.#reserve(at + 1 + json.length, at);
    if (at > 0) {
      this.#buffer[at] = comma;
      at += 1;
    }
    let rest = json;
    for (;;) {
      const { read, written } = encoder.encodeInto(rest, this.#buffer.subarray(at));
      at += written;
      if (read === rest.length) return at;
      // The reserved space is enough for ASCII; other characters take up to three bytes.
      rest = rest.slice(read);
      this.#reserve(at + rest.length * 3, at);
    }
  }

  /** Ensures capacity. Returned bytes never change: growth allocates a new buffer. */
  #reserve(size: number, used = this.#end): void {
    if (size <= this.#buffer.length) return;
    const larger = new Uint8Array(Math.max(size, this.#buffer.length * 2));
    larger.set(this.#buffer.subarray(0, used));
    this.#buffer = larger;
  }
}

function commonLength(left: ArrayLike<unknown>, right: ArrayLike<unknown>): number {
  const length = Math.min(left.length, right.length);
  let at = 0;
  while (at < length && left[at] === right[at]) at += 1;
  return at;
}

function isEqual(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && commonLength(left, right) === left.length;
}

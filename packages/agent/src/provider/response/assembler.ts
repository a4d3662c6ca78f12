import type { AgentEvent, ModelResponse, StopReason } from '../../interfaces/agent.ts';
import { data } from '../../values/input.ts';
import type { Json } from '../../values/json.ts';
import type { Seal } from '../../values/message.ts';
import { maxAnswerBytes, maxArgumentBytes, sizeOf } from '../../values/sizes.ts';
import { wellFormedJson } from '../../values/unicode.ts';
import type { Usage } from '../../values/usage.ts';
import { CallNames } from '../wire/call-names.ts';
import type { BlockKey, Fault, FaultKind, ResponseSink, Shown, Wire } from '../wire/wire.ts';
import type { BlockKind, ResponseBlock } from './block.ts';
import { awaitsKind, readCall } from './block.ts';
import type { ResponseHead } from './complete-response.ts';
import { completeResponse, notReleased, unreadable } from './complete-response.ts';
import { TokenCounts } from './usage-count.ts';

/** Bytes that a block counts in addition to its text. */
const blockBytes = 64;

const lateContent = 'content arrived after its end';

/** A failure that the service reported inside its stream. */
export type StreamFault = Fault & { readonly kind: FaultKind };

/**
 * Builds one response from the calls of a wire, and emits its parts as they arrive.
 *
 * A1. Blocks are in the order of their first mention; they may interleave.
 * A2. Each block is emitted as a whole exactly once: when it is closed, or else at the end of the response.
 * A3. After the end only usage is accepted; content or a second end makes the response invalid.
 * A4. The first failure reported before the end counts.
 * A5. Numbered blocks start in order, keep their kind, end once and get nothing after that.
 */
export class Assembly implements ResponseSink {
  // Plain fields, because they are read for each delta.
  /** Number of calls by the wire; a changed value means progress. */
  steps = 0;
  /** Number of calls by the wire that drop something. */
  drops = 0;
  fault: StreamFault | undefined;
  hasEnded = false;
  readonly #provider: string;
  readonly #blocks: ResponseBlock[] = [];
  readonly #ignored: Wire['ignored'];
  /** The blocks whose keys are numbers: the key is the index. */
  readonly #numbered: ResponseBlock[] = [];
  /** The blocks whose keys are names. */
  #named: Map<BlockKey, ResponseBlock> | undefined;
  #names: CallNames | undefined;
  readonly #usage = new TokenCounts();
  #emit: ((event: AgentEvent) => void) | undefined;
  /** The last block used, because consecutive deltas usually belong to one. Undefined once it or the response has ended. */
  #lastKey: BlockKey | undefined;
  #last: ResponseBlock | undefined;
  #size = 0;
  /** Bytes of everything but the text: blocks, names and seals. */
  #held = 0;
  #model: string | undefined;
  #stopReason: StopReason | undefined;
  /** True after the end or a failure: only usage is accepted. */
  #over = false;
  /** What arrived after the end and cannot belong to a complete response. */
  #late: string | undefined;
  /** False if the wire passed data that a log cannot store. Whoever stores the response then rejects it. */
  #isStorable = true;

  constructor({ provider, ignored }: Pick<Wire, 'provider' | 'ignored'>, emit?: (event: AgentEvent) => void) {
    this.#provider = provider;
    this.#ignored = ignored;
    this.#emit = emit;
  }

  /** Reason why a response that has ended is not complete. */
  get flaw(): string | undefined {
    if (this.#late !== undefined) return this.#late;
    if (this.#stopReason !== 'complete') return undefined;
    return unreadable(this.#blocks, this.#usage.total());
  }

  /** True while the model is reasoning, which can take long without any data. */
  get isReasoning(): boolean {
    return this.#last?.kind === 'reasoning';
  }

  /** Stops emitting events. */
  mute(): void {
    this.#emit = undefined;
  }

  begin(at: BlockKey, kind: BlockKind): void {
    this.steps += 1;
    if (this.#over || this.#size + this.#held > maxAnswerBytes) return this.#refuseContent();
    if (this.#at(at) !== undefined) return this.#invalid(`block ${at} was sent twice`);
    const block = this.#open(at, kind);
    if (block !== undefined) block.mustClose = true;
  }

  text(at: BlockKey, delta: string): void {
    const block = this.#last;
    // Most deltas continue the block of the previous one, and a call costs more than what is done for them.
    if (at === this.#lastKey && block?.kind === 'text' && typeof delta === 'string' && delta !== '') {
      this.steps += 1;
      this.#size += delta.length;
      if (this.#size + this.#held > maxAnswerBytes) return this.#breakTooLarge();
      block.text += delta;
      try {
        this.#emit?.({ type: 'text_delta', index: block.index, text: delta });
      } catch {}
    } else if (this.#takes(delta)) this.#extend(at, 'text', delta);
  }

  reasoning(at: BlockKey, delta: string): void {
    if (this.#takes(delta)) this.#extend(at, 'reasoning', delta);
  }

  /** Adds text to a block. An empty one still opens its block, because the first mention determines the order. */
  #extend(at: BlockKey, kind: 'text' | 'reasoning', delta: string): void {
    const block = this.#open(at, kind);
    if (block === undefined || delta === '') return;
    block.text += delta;
    this.#show({ type: `${kind}_delta`, index: block.index, text: delta });
  }

  seal(at: BlockKey, given: Json, shown?: Shown): void {
    this.steps += 1;
    if (this.#over || this.#size + this.#held > maxAnswerBytes) return this.#refuseContent();
    const known = this.#at(at);
    // Text cannot have a seal, and a closed opaque block is complete: in both cases add a new block.
    const isOther = known === undefined || (known.kind === 'opaque' && known.closed);
    const block = known?.kind === 'text' ? this.#add('opaque') : isOther ? this.#open(at, 'opaque') : known;
    if (block === undefined) return;
    block.seal = this.#sealOf(given);
    block.shown = shown && (this.#stored(wellFormedJson(shown) as Json) as Shown);
  }

  call(at: BlockKey, id: string, name: string): void {
    this.steps += 1;
    if (this.#over || this.#size + this.#held > maxAnswerBytes) return this.#refuseContent();
    if (typeof id !== 'string' || typeof name !== 'string')
      throw new TypeError('the id or name of a tool call is not a string');
    const known = this.#at(at);
    // Some services give every call the same name and distinguish calls only by id.
    const isAnother = known?.kind === 'call' && id !== '' && known.id !== '' && known.id !== id;
    if (isAnother && typeof at === 'number') return this.#invalid(`block ${at} has the ids of two calls`);
    if (isAnother) {
      // The other call is complete.
      this.#close(known);
      this.#named?.delete(at);
    }
    const block = this.#open(at, 'call');
    if (block === undefined) return;
    block.isCalled = true;
    this.#held += id.length + name.length;
    if (block.id === '') block.id = id;
    if (block.name === '') block.name = name;
  }

  input(at: BlockKey, fragment: string): void {
    const last = this.#last;
    if (at === this.#lastKey && last?.kind === 'call' && last.isCalled && typeof fragment === 'string') {
      this.steps += 1;
      this.#size += fragment.length;
      if (this.#size + this.#held > maxAnswerBytes) return this.#breakTooLarge();
      // Beyond the limit it is enough to know that they are too long; the rest is never read.
      if (last.text.length <= maxArgumentBytes) last.text += fragment;
      try {
        this.#emit?.({ type: 'tool_input_delta', index: last.index, json: fragment });
      } catch {}
    } else if (this.#takes(fragment)) this.#openInput(at, fragment);
  }

  #openInput(at: BlockKey, fragment: string): void {
    const known = this.#at(at);
    if (known?.kind === 'call' && known.closed) {
      if (fragment.trim() !== '') this.#invalid('arguments came after the call was complete');
      return;
    }
    const block = this.#open(at, 'call');
    if (block === undefined) return;
    if (typeof at === 'number' && !block.isCalled)
      return this.#invalid(`block ${at} has arguments but no call`);
    if (block.text.length <= maxArgumentBytes) block.text += fragment;
    this.#show({ type: 'tool_input_delta', index: block.index, json: fragment });
  }

  delta(at: BlockKey, chunk: string): void {
    const kind = this.#at(at)?.kind ?? 'text';
    if (kind === 'call') this.input(at, chunk);
    else if (kind === 'text') this.text(at, chunk);
    else this.reasoning(at, chunk); // A seal received before its block belongs to reasoning.
  }

  close(at: BlockKey): void {
    this.steps += 1;
    const block = this.#at(at);
    if (this.#over) return;
    if (typeof at === 'number' && block?.closed !== false)
      return this.#invalid(`block ${at} ended ${block === undefined ? 'before it started' : 'twice'}`);
    if (block !== undefined) this.#close(block);
  }

  ignore(kind: string): void {
    this.drops += 1;
    if (!this.#over && !Object.hasOwn(this.#ignored ?? {}, kind))
      this.#invalid(`it contains ${JSON.stringify(kind)}, which is unknown and would be lost`);
  }

  usage(counts: Partial<Usage>): void {
    this.steps += 1;
    this.#usage.set(counts);
  }

  model(name: string): void {
    this.steps += 1;
    if (name !== '' && !this.#over) this.#model = name;
  }

  stop(reason: StopReason): void {
    this.steps += 1;
    if (this.#over) return;
    if ((this.#stopReason ?? reason) !== reason) return this.#invalid('it has two different stop reasons');
    this.#stopReason = reason;
  }

  end(reason?: StopReason, raw?: string): void {
    this.steps += 1;
    if (this.#over) {
      this.#late ??= 'it ended twice';
      return;
    }
    const given = reason ?? this.#stopReason ?? (raw === undefined ? undefined : 'unknown');
    if (given === undefined) return this.#invalid('it ended without a stop reason');
    let hasCalls = false;
    const blocks = this.#blocks;
    for (const { index, kind, mustClose, closed, isCalled } of blocks) {
      // Its start or its end is missing.
      const isTorn = (mustClose && !closed) || (kind === 'call' && !isCalled);
      if (isTorn) return this.#invalid(`block ${index} is incomplete`);
      if (kind === 'call') hasCalls = true;
    }
    // A response with calls requests tool use, whatever stop reason the service reports.
    const called = given === 'complete' && hasCalls ? 'tool_use' : given;
    if (called === 'tool_use' && !hasCalls) return this.#invalid('it announces tool calls but contains none');
    for (const block of blocks) if (!block.closed) this.#close(block, notReleased[called]);
    this.#stopReason = called;
    this.#over = true;
    this.#last = undefined;
    this.hasEnded = true;
  }

  fail(fault: Fault): void {
    this.steps += 1;
    if (typeof fault.message !== 'string') throw new TypeError('an error message is not a string');
    if (!this.#over) this.#break({ ...fault, kind: fault.kind ?? 'agent' });
  }

  /** Returns the reported usage, with an estimate from the bytes received and sent for counts that are missing. */
  usedSoFar(sentBytes: number): Usage {
    return this.#usage.withArrived(this.#size, sentBytes);
  }

  /** Returns the response, frozen with everything in it. Call it once, after the end. */
  response(head: ResponseHead): ModelResponse {
    return completeResponse({
      head,
      model: this.#model ?? head.model,
      blocks: this.#blocks,
      usage: this.#usage,
      stopReason: this.#stopReason ?? 'unknown',
      isStorable: this.#isStorable,
    });
  }

  #break(fault: StreamFault): void {
    this.fault = fault;
    this.#over = true;
    this.#last = undefined;
  }

  #invalid(why: string): undefined {
    this.#break({ kind: 'broken', message: `The response is invalid: ${why}.` });
  }

  /** Handles content that comes too late or exceeds the limit. */
  #refuseContent(): void {
    if (this.#over) this.#late = lateContent;
    else this.#breakTooLarge();
  }

  /** Counts a delta. Returns false if it is too late or exceeds the limit. */
  #takes(delta: string): boolean {
    this.steps += 1;
    if (this.#over) {
      if (delta !== '') this.#late = lateContent;
      return false;
    }
    // Wires pass on unvalidated data.
    if (typeof delta !== 'string') throw new TypeError('a chunk of the response is not a string');
    this.#size += delta.length;
    if (this.#size + this.#held > maxAnswerBytes) this.#breakTooLarge();
    return !this.#over;
  }

  #breakTooLarge(): void {
    const message = 'The response is larger than 64 MiB and was discarded.';
    this.#break({ kind: 'limit', code: 'answer_too_large', message });
  }

  #at(key: BlockKey): ResponseBlock | undefined {
    if (key === this.#lastKey && this.#last !== undefined) return this.#last;
    return typeof key === 'number' ? this.#numbered[key] : this.#named?.get(key);
  }

  /**
   * Returns the open block at this key. A closed block stays as it was emitted: late or different content starts a new
   * block at a name, so that nothing is lost and nothing already emitted changes, and makes the response invalid at a
   * number.
   */
  #open(at: BlockKey, kind: BlockKind): ResponseBlock | undefined {
    let block = this.#at(at);
    if (block === undefined || block.kind !== kind || block.closed) {
      const isNumber = typeof at === 'number';
      if (isNumber && (block === undefined ? at !== this.#numbered.length : !awaitsKind(block, kind)))
        return this.#invalid(`block ${at} arrived out of order or after its end, or changed its kind`);
      if (block?.kind === 'opaque' && kind !== 'text' && kind !== 'opaque') {
        // The seal arrived before the block that it belongs to.
        block.kind = kind;
        block.closed = false;
      } else {
        if (block !== undefined) this.#close(block);
        block = this.#add(kind);
        if (isNumber) this.#numbered.push(block);
        else {
          this.#named ??= new Map();
          this.#named.set(at, block);
        }
      }
    }
    this.#lastKey = at;
    this.#last = block;
    return block;
  }

  #add(kind: BlockKind): ResponseBlock {
    const block: ResponseBlock = {
      index: this.#blocks.length,
      kind,
      text: '',
      closed: false,
      seal: undefined,
      shown: undefined,
      id: '',
      name: '',
      mustClose: false,
      isCalled: false,
      call: undefined,
    };
    this.#blocks.push(block);
    this.#held += blockBytes;
    return block;
  }

  #close(block: ResponseBlock, problem?: string): void {
    if (block.closed) return;
    block.closed = true;
    if (block === this.#last) this.#last = undefined;
    const { index, kind } = block;
    if (kind === 'call') {
      this.#names ??= new CallNames();
      block.call = readCall(block, this.#names.give(block.id || `call_${index + 1}`), problem);
      this.#show({ type: 'tool_call', index, call: block.call });
    } else if (kind !== 'opaque' && block.text !== '') {
      if (!block.text.isWellFormed()) block.text = block.text.toWellFormed();
      this.#show({ type: kind, index, text: block.text });
    }
  }

  #sealOf(given: Json): Seal {
    return Object.freeze({ provider: this.#provider, data: this.#stored(given) });
  }

  /** Counts data and returns it as a log stores it. */
  #stored(given: Json): Json {
    try {
      const known: Json = data(given);
      this.#held += sizeOf(known);
      return known;
    } catch {
      this.#isStorable = false;
      return given;
    }
  }

  /** Emits an event. Errors of the listener are ignored. */
  #show(event: AgentEvent): void {
    try {
      this.#emit?.(event);
    } catch {}
  }
}

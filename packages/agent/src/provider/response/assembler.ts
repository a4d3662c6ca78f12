import type { AgentEvent, StopReason, ToolCall } from '../../interfaces/agent.ts';
import type { Json } from '../../values/json.ts';
import type { AssistantPart } from '../../values/message.ts';
import type { Usage } from '../../values/usage.ts';
import { CallNames } from '../wire/call-names.ts';
import type { BlockKey, Fault, FaultKind, ResponseSink, Wire } from '../wire/wire.ts';
import type { BlockKind } from './block.ts';
import { ResponseBlock } from './block.ts';
import { TokenCounts } from './usage-count.ts';

/** Maximum number of UTF-16 code units in one response: 64 Mi. */
const maxAnswerSize = 64 * 1024 * 1024;

/** Maximum number of output tokens of a response without content: services count marks that they do not send. */
const maxSilentTokens = 16;

/** A failure that the service reported inside its stream. */
export interface StreamFault {
  readonly kind: FaultKind;
  readonly message: string;
  readonly code?: string | undefined;
  readonly retryAfterMs?: number | undefined;
}

/** A complete response. */
export interface AssembledResponse {
  readonly parts: readonly AssistantPart[];
  readonly text: string;
  readonly calls: readonly ToolCall[];
  readonly stopReason: StopReason;
  readonly usage: Usage;
  /** Model name as reported by the service; undefined if it did not report one. */
  readonly model: string | undefined;
}

/** Reasons not to run the calls of a response, by stop reason. Calls of a response that ended normally run. */
const notReleased: Readonly<Record<StopReason, string | undefined>> = {
  tool_use: undefined,
  complete: undefined,
  max_tokens: 'The answer reached its token limit before the call was complete. Make shorter calls.',
  refusal: 'The answer was refused before the call was complete.',
  pause: 'The answer was paused before the call was complete.',
  context_full: 'The conversation became too long before the call was complete.',
  unknown: 'The answer stopped for an unknown reason before the call was complete.',
};

/**
 * Builds one response from the calls of a wire, and emits its parts as they arrive.
 *
 * A1. Blocks are in the order of their first mention; they may interleave.
 * A2. Each block is emitted as a whole exactly once: when it is closed, or else at the end of the response.
 * A3. After the end only usage is accepted; content after it makes the response invalid.
 * A4. The first failure reported before the end counts.
 * A5. Numbered blocks start in order, keep their kind and get nothing after they are closed.
 */
export class Assembly implements ResponseSink {
  // Plain fields, because they are read for each delta.
  /** Number of calls by the wire; a changed value means progress. */
  steps = 0;
  /** Number of calls by the wire that drop something. */
  drops = 0;
  readonly #provider: string;
  readonly #blocks: ResponseBlock[] = [];
  readonly #ignored: Readonly<Record<string, string>>;
  readonly #byKey = new Map<BlockKey, ResponseBlock>();
  /** The number that the next numbered block must have. */
  #next = 0;
  readonly #names = new CallNames();
  readonly #usage = new TokenCounts();
  #emit: ((event: AgentEvent) => void) | undefined;
  /** The last block used, because consecutive deltas usually belong to one block. */
  #lastKey: BlockKey | undefined;
  #last: ResponseBlock | undefined;
  #size = 0;
  #model: string | undefined;
  #noted: StopReason | undefined;
  #ended: StopReason | undefined;
  #fault: StreamFault | undefined;
  /** True after the end or a failure: only usage is accepted. */
  #over = false;
  #isLate = false;

  constructor(
    { provider, ignored = {} }: Pick<Wire, 'provider' | 'ignored'>,
    emit?: (event: AgentEvent) => void,
  ) {
    this.#provider = provider;
    this.#ignored = ignored;
    this.#emit = emit;
  }

  get fault(): StreamFault | undefined {
    return this.#fault;
  }

  /** Reason why a response that has ended is not complete. */
  get flaw(): string | undefined {
    if (this.#isLate) return 'content arrived after its end';
    const { outputTokens, reasoningTokens = 0 } = this.#usage.total();
    const isReadable = this.#blocks.some(({ kind, text }) => kind === 'call' || text !== '');
    if (this.#ended !== 'complete' || isReadable) return undefined;
    // A service may end its turn without a word, which costs a few tokens.
    const announced = this.#blocks.filter(({ mustClose }) => mustClose).length;
    return announced > 0 || outputTokens - reasoningTokens > maxSilentTokens
      ? `nothing in it can be read, although it has ${announced} blocks and ${outputTokens} output tokens`
      : undefined;
  }

  get hasEnded(): boolean {
    return this.#ended !== undefined;
  }

  /** True while the model is reasoning, which can take long without any data. */
  get isReasoning(): boolean {
    return this.#last?.kind === 'reasoning' && !this.#last.closed;
  }

  /** Stops emitting events. */
  mute(): void {
    this.#emit = undefined;
  }

  begin(at: BlockKey, kind: BlockKind): void {
    if (!this.#takesContent()) return;
    const known = this.#byKey.get(at);
    if (known !== undefined && (known.closed || known.kind !== kind || known.text !== ''))
      return this.#invalid(`block ${at} was sent twice`);
    const block = this.#open(at, kind);
    if (block !== undefined) block.mustClose = true;
  }

  text(at: BlockKey, delta: string): void {
    // An empty delta still opens the block, because the first mention determines the order.
    if (!this.#takes(delta)) return;
    // Most deltas continue the block of the previous one.
    const last = at === this.#lastKey ? this.#last : undefined;
    const block = last?.kind === 'text' && !last.closed ? last : this.#open(at, 'text');
    if (delta === '' || block === undefined) return;
    block.text += delta;
    if (this.#emit !== undefined) this.#emitSafely({ type: 'text_delta', index: block.index, text: delta });
  }

  reasoning(at: BlockKey, delta: string): void {
    if (!this.#takes(delta)) return;
    const block = this.#open(at, 'reasoning');
    if (delta === '' || block === undefined) return;
    block.text += delta;
    if (this.#emit !== undefined)
      this.#emitSafely({ type: 'reasoning_delta', index: block.index, text: delta });
  }

  seal(at: BlockKey, data: Json): void {
    if (!this.#takesContent()) return;
    const known = this.#byKey.get(at);
    // Text cannot have a seal, and a closed opaque block is complete: in both cases add a new block.
    const isOther = known === undefined || (known.kind === 'opaque' && known.closed);
    const block = known?.kind === 'text' ? this.#add('opaque') : isOther ? this.#open(at, 'opaque') : known;
    if (block !== undefined) block.seal = { data };
  }

  call(at: BlockKey, id: string, name: string): void {
    if (!this.#takesContent()) return;
    if (typeof id !== 'string' || typeof name !== 'string')
      throw new TypeError('the id or name of a tool call is not a string');
    const known = this.#byKey.get(at);
    // Some services give every call the same name and distinguish calls only by id.
    const isAnother = known?.kind === 'call' && id !== '' && known.id !== '' && known.id !== id;
    if (isAnother && typeof at === 'number') return this.#invalid(`block ${at} has the ids of two calls`);
    if (isAnother) this.#forget(at, known);
    const block = this.#open(at, 'call');
    if (block === undefined) return;
    block.isCalled = true;
    if (block.id === '') block.id = id;
    if (block.name === '') block.name = name;
  }

  input(at: BlockKey, fragment: string): void {
    if (!this.#takes(fragment)) return;
    const known = at === this.#lastKey ? this.#last : this.#byKey.get(at);
    if (known?.kind === 'call' && known.closed) {
      if (fragment.trim() !== '') this.#invalid('arguments came after the call was complete');
      return;
    }
    const block = this.#open(at, 'call');
    if (block === undefined) return;
    if (typeof at === 'number' && !block.isCalled)
      return this.#invalid(`block ${at} has arguments without a call`);
    block.addInput(fragment);
    if (this.#emit !== undefined)
      this.#emitSafely({ type: 'tool_input_delta', index: block.index, json: fragment });
  }

  delta(at: BlockKey, chunk: string): void {
    const kind = (at === this.#lastKey ? this.#last : this.#byKey.get(at))?.kind ?? 'text';
    if (kind === 'call') this.input(at, chunk);
    else if (kind === 'text') this.text(at, chunk);
    else this.reasoning(at, chunk); // A seal received before its block belongs to reasoning.
  }

  close(at: BlockKey): void {
    this.steps += 1;
    const block = this.#byKey.get(at);
    if (this.#over) return;
    if (block !== undefined) this.#close(block);
    else if (typeof at === 'number') this.#invalid(`block ${at} ended without a start`);
  }

  ignore(kind: string): void {
    this.drops += 1;
    if (!this.#over && !Object.hasOwn(this.#ignored, kind))
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
    if (!this.#over) this.#noted = reason;
  }

  end(reason?: StopReason, raw?: string): void {
    this.steps += 1;
    if (this.#over) return;
    const given = reason ?? this.#noted ?? (raw === undefined ? undefined : 'unknown');
    if (given === undefined) return this.#invalid('it ended without a stop reason');
    const torn = this.#blocks.find((block) => block.isTorn);
    if (torn !== undefined) return this.#invalid(`block ${torn.index} has no start or no end`);
    const hasCalls = this.#blocks.some((block) => block.kind === 'call');
    // A response with calls requests tool use, whatever stop reason the service reports.
    const called = given === 'complete' && hasCalls ? 'tool_use' : given;
    if (called === 'tool_use' && !hasCalls) return this.#invalid('it announces tool calls but contains none');
    for (const block of this.#blocks) this.#close(block, notReleased[called]);
    if (this.#fault !== undefined) return;
    this.#ended = called;
    this.#over = true;
  }

  fail(fault: Fault): void {
    this.steps += 1;
    if (typeof fault.message !== 'string') throw new TypeError('the message of a failure is not a string');
    if (!this.#over) this.#break({ ...fault, kind: fault.kind ?? 'agent' });
  }

  /** Returns the reported usage, with an estimate from the bytes received and sent for counts that are missing. */
  usedSoFar(sentBytes: number): Usage {
    return this.#usage.withArrived(this.#size, sentBytes);
  }

  /** Returns the response. Call it after the end. */
  answer(): AssembledResponse {
    const stopReason = this.#ended ?? 'unknown';
    const problem = notReleased[stopReason];
    const parts: AssistantPart[] = [];
    const calls: ToolCall[] = [];
    let text = '';
    for (const block of this.#blocks) {
      const part = block.part(this.#provider, problem);
      if (part === undefined) continue;
      parts.push(part);
      if (part.type === 'text') text += part.text;
      if (part.type === 'tool_call') calls.push(block.call(problem));
    }
    return { parts, text, calls, stopReason, usage: this.#usage.total(), model: this.#model };
  }

  #break(fault: StreamFault): void {
    this.#fault = fault;
    this.#over = true;
  }

  #invalid(why: string): undefined {
    this.#break({ kind: 'broken', message: `The response is invalid: ${why}.` });
  }

  /** Counts a call with content. Returns false if it is too late. */
  #takesContent(): boolean {
    this.steps += 1;
    if (this.#over) this.#isLate = true;
    return !this.#over;
  }

  /** Counts a delta. Returns false if it is too late or exceeds the limit. */
  #takes(delta: string): boolean {
    this.steps += 1;
    if (this.#over) {
      this.#isLate ||= delta !== '';
      return false;
    }
    // Wires pass on unvalidated data.
    if (typeof delta !== 'string') throw new TypeError('a chunk of the response is not a string');
    this.#size += delta.length;
    if (this.#size <= maxAnswerSize) return true;
    this.#break({
      kind: 'limit',
      code: 'answer_too_large',
      message: 'The response is larger than 64 MiB and was discarded.',
    });
    return false;
  }

  /**
   * Returns the open block at this key. A closed block stays as it was emitted: late or different content starts a new
   * block at a name, so that nothing is lost and nothing already emitted changes, and makes the response invalid at a
   * number.
   */
  #open(at: BlockKey, kind: BlockKind): ResponseBlock | undefined {
    const isLast = at === this.#lastKey;
    const known = isLast ? this.#last : this.#byKey.get(at);
    if (known !== undefined && known.kind === kind && !known.closed) {
      return isLast ? known : this.#remember(at, known);
    }
    if (typeof at === 'number' && (known === undefined ? at !== this.#next++ : !known.awaitsKind(kind)))
      return this.#invalid(`block ${at} came out of order, after its end, or as another kind`);
    if (known?.kind === 'opaque' && kind !== 'text' && kind !== 'opaque') {
      // The seal arrived before the block that it belongs to.
      known.kind = kind;
      known.closed = false;
      return this.#remember(at, known);
    }
    if (known !== undefined) this.#close(known);
    const block = this.#add(kind);
    this.#byKey.set(at, block);
    return this.#remember(at, block);
  }

  #add(kind: BlockKind): ResponseBlock {
    const block = new ResponseBlock(this.#blocks.length, kind);
    this.#blocks.push(block);
    return block;
  }

  #remember(at: BlockKey, block: ResponseBlock): ResponseBlock {
    this.#lastKey = at;
    this.#last = block;
    return block;
  }

  #forget(at: BlockKey, block: ResponseBlock): void {
    this.#close(block);
    this.#byKey.delete(at);
    this.#lastKey = undefined;
    this.#last = undefined;
  }

  #close(block: ResponseBlock, problem?: string): void {
    if (block.closed) return;
    if (block.kind === 'call') block.id = this.#names.give(block.id || `call_${block.index + 1}`);
    block.close();
    const { index, text } = block;
    if (block.kind === 'call') this.#emitSafely({ type: 'tool_call', index, call: block.call(problem) });
    else if (block.kind !== 'opaque' && text !== '') this.#emitSafely({ type: block.kind, index, text });
  }

  /** Emits an event. Errors of the listener are ignored. */
  #emitSafely(event: AgentEvent): void {
    const emit = this.#emit;
    if (emit === undefined) return;
    try {
      emit(event);
    } catch {}
  }
}

import type { AgentEvent, StopReason, ToolCall } from '../../interfaces/agent.ts';
import type { Json } from '../../values/json.ts';
import type { AssistantPart } from '../../values/message.ts';
import type { Usage } from '../../values/usage.ts';
import { CallNames } from '../wire/call-names.ts';
import type { BlockKey, Fault, FaultKind, ResponseSink } from '../wire/wire.ts';
import type { BlockKind } from './block.ts';
import { ResponseBlock } from './block.ts';
import { TokenCounts } from './usage-count.ts';

/** Most UTF-16 units of one answer: 64 Mi. */
const maxAnswerSize = 64 * 1024 * 1024;

/** A failure that the service reported inside its stream. */
export interface StreamFault {
  readonly kind: FaultKind;
  readonly message: string;
  readonly code?: string | undefined;
  readonly retryAfterMs?: number | undefined;
}

/** A whole answer. */
export interface AssembledResponse {
  readonly parts: readonly AssistantPart[];
  readonly text: string;
  readonly calls: readonly ToolCall[];
  readonly stopReason: StopReason;
  readonly usage: Usage;
  /** As the service names it; absent when it did not. */
  readonly model: string | undefined;
}

/** Why a call is not run although it arrived: the model was stopped. Calls of an answer that ended well are run. */
const notReleased: Readonly<Record<StopReason, string | undefined>> = {
  tool_use: undefined,
  complete: undefined,
  max_tokens: 'The answer reached its token limit before the call was complete. Make shorter calls.',
  refusal: 'The answer was refused before the call was complete.',
  pause: 'The answer was paused before the call was complete.',
  context_full: 'The conversation became too long before the call was complete.',
  unknown: 'The answer stopped for an unknown reason before the call was complete.',
};

const repeated: StreamFault = {
  kind: 'broken',
  message: 'The answer is garbled: a block was sent a second time.',
};

/**
 * Builds one answer from what a wire says about it, and tells it on as it comes.
 *
 * A1. Blocks stand in the order of their first mention; they may interleave.
 * A2. Each block is told whole exactly once: when it is closed, or else at the end of the answer.
 * A3. After the end only usage is taken.
 * A4. The first failure reported before the end stands.
 */
export class Assembly implements ResponseSink {
  readonly #provider: string;
  readonly #blocks: ResponseBlock[] = [];
  readonly #byKey = new Map<BlockKey, ResponseBlock>();
  /** Blocks that were whole when another one began in their place. */
  readonly #earlier = new Map<BlockKey, ResponseBlock>();
  /** Blocks of kinds that the wire does not know. */
  readonly #skipped = new Set<BlockKey>();
  readonly #names = new CallNames();
  readonly #usage = new TokenCounts();
  #emit: ((event: AgentEvent) => void) | undefined;
  /** Consecutive deltas mostly belong to one block. */
  #lastKey: BlockKey | undefined;
  #last: ResponseBlock | undefined;
  #steps = 0;
  #size = 0;
  #model: string | undefined;
  #noted: StopReason | undefined;
  #ended: StopReason | undefined;
  #fault: StreamFault | undefined;
  /** It has ended or failed: only usage is taken. */
  #over = false;

  constructor(provider: string, emit?: (event: AgentEvent) => void) {
    this.#provider = provider;
    this.#emit = emit;
  }

  /** How often the wire has spoken: two different values mean progress. */
  get steps(): number {
    return this.#steps;
  }

  get fault(): StreamFault | undefined {
    return this.#fault;
  }

  get hasEnded(): boolean {
    return this.#ended !== undefined;
  }

  /** Whether the model is thinking right now, which may take long without a sign. */
  get isReasoning(): boolean {
    return this.#last?.kind === 'reasoning' && !this.#last.closed;
  }

  /** Tells nothing any more. */
  mute(): void {
    this.#emit = undefined;
  }

  begin(at: BlockKey, kind: 'text' | 'reasoning' | 'call', id = ''): void {
    const known = this.#byKey.get(at);
    if (this.#over || known === undefined || known.kind !== kind) return;
    if (kind === 'call' && id !== '' && known.id !== '' && known.id !== id) return;
    if (known.closed ? kind === 'call' && id !== '' : known.text !== '') this.#break(repeated);
    else if (known.closed) this.#earlier.set(at, known);
  }

  text(at: BlockKey, delta: string): void {
    // An empty delta still opens the block: what counts for the order is the first mention.
    if (!this.#takes(delta)) return;
    // Most deltas go on with the block of the one before.
    const last = at === this.#lastKey ? this.#last : undefined;
    const block = last?.kind === 'text' && !last.closed ? last : this.#open(at, 'text');
    if (delta === '') return;
    block.text += delta;
    if (this.#emit !== undefined) this.#tell({ type: 'text_delta', index: block.index, text: delta });
  }

  reasoning(at: BlockKey, delta: string): void {
    if (!this.#takes(delta)) return;
    const block = this.#open(at, 'reasoning');
    if (delta === '') return;
    block.text += delta;
    if (this.#emit !== undefined) this.#tell({ type: 'reasoning_delta', index: block.index, text: delta });
  }

  seal(at: BlockKey, data: Json): void {
    if (this.#skipped.has(at)) return;
    this.#steps += 1;
    if (this.#over) return;
    const known = this.#byKey.get(at);
    // Text cannot be sealed, and a closed opaque block is complete: both get a neighbour.
    if (known?.kind === 'text') this.#add('opaque').seal = { data };
    else if (known === undefined || (known.kind === 'opaque' && known.closed)) {
      const block = this.#remember(at, this.#add('opaque'));
      this.#byKey.set(at, block);
      block.seal = { data };
    } else known.seal = { data };
  }

  call(at: BlockKey, id: string, name: string): void {
    this.#steps += 1;
    if (this.#over) return;
    if (typeof id !== 'string' || typeof name !== 'string')
      throw new TypeError('a call has no text for its id or name');
    const known = this.#byKey.get(at);
    // Some services count every call as the first one and tell them apart by id alone.
    const isAnother = known?.kind === 'call' && id !== '' && known.id !== '' && known.id !== id;
    if (isAnother) this.#forget(at, known);
    const block = this.#open(at, 'call');
    if (block.id === '') block.id = id;
    if (block.name === '') block.name = name;
  }

  input(at: BlockKey, fragment: string): void {
    if (!this.#takes(fragment)) return;
    const known = at === this.#lastKey ? this.#last : this.#byKey.get(at);
    if (known?.kind === 'call' && known.closed) {
      if (fragment.trim() !== '') known.problem ??= 'More arguments came after the call was complete.';
      return;
    }
    const block = this.#open(at, 'call');
    block.addInput(fragment);
    if (this.#emit !== undefined)
      this.#tell({ type: 'tool_input_delta', index: block.index, json: fragment });
  }

  delta(at: BlockKey, piece: string): void {
    if (this.#skipped.has(at)) return;
    const kind = (at === this.#lastKey ? this.#last : this.#byKey.get(at))?.kind ?? 'text';
    if (kind === 'call') this.input(at, piece);
    else if (kind === 'text') this.text(at, piece);
    else this.reasoning(at, piece); // A seal that came before its block is one of reasoning.
  }

  close(at: BlockKey): void {
    if (this.#skipped.has(at)) return;
    this.#steps += 1;
    const block = this.#byKey.get(at);
    if (block !== undefined && !this.#over) this.#close(block);
  }

  skip(at: BlockKey): void {
    this.#skipped.add(at);
  }

  usage(counts: Partial<Usage>): void {
    this.#steps += 1;
    this.#usage.set(counts);
  }

  model(name: string): void {
    this.#steps += 1;
    if (name !== '' && !this.#over) this.#model = name;
  }

  stop(reason: StopReason): void {
    this.#steps += 1;
    if (!this.#over) this.#noted = reason;
  }

  end(reason?: StopReason): void {
    this.#steps += 1;
    if (this.#over) return;
    const given = reason ?? this.#noted ?? 'unknown';
    const hasCalls = this.#blocks.some((block) => block.kind === 'call');
    // Calls mean that they are wanted, whatever word the service has for its end.
    const called = given === 'complete' && hasCalls ? 'tool_use' : given;
    const stopReason = called === 'tool_use' && !hasCalls ? this.#withoutCalls() : called;
    for (const block of this.#blocks) this.#close(block, notReleased[stopReason]);
    if (this.#fault !== undefined) return;
    this.#ended = stopReason;
    this.#over = true;
  }

  fail(fault: Fault): void {
    this.#steps += 1;
    if (typeof fault.message !== 'string') throw new TypeError('a failure has no text for its message');
    if (!this.#over) this.#break({ ...fault, kind: fault.kind ?? 'agent' });
  }

  /** What the service counted, and where it counted nothing, what arrived and what was sent for it. */
  usedSoFar(sentBytes: number): Usage {
    return this.#usage.withArrived(this.#size, sentBytes);
  }

  /** The answer. To be asked for after the end. */
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

  /** A stop for calls that are not there is believed only if the model at least said something. */
  #withoutCalls(): StopReason {
    return this.#blocks.some((block) => block.kind === 'text' && block.text !== '') ? 'complete' : 'unknown';
  }

  /** Counts a delta; false when it comes too late or is too much. */
  #takes(delta: string): boolean {
    this.#steps += 1;
    if (this.#over) return false;
    // Wires hand on what they read.
    if (typeof delta !== 'string') throw new TypeError('a piece of the answer is not text');
    this.#size += delta.length;
    if (this.#size <= maxAnswerSize) return true;
    this.#break({
      kind: 'limit',
      code: 'answer_too_large',
      message: 'The answer is larger than 64 MiB; it was given up.',
    });
    return false;
  }

  /**
   * The open block at this key. A closed block stays as it was told: what comes late, or is of another kind,
   * begins a new block, so that nothing is lost and nothing told changes.
   */
  #open(at: BlockKey, kind: BlockKind): ResponseBlock {
    const isLast = at === this.#lastKey;
    const known = isLast ? this.#last : this.#byKey.get(at);
    if (known !== undefined && known.kind === kind && !known.closed) {
      return isLast ? known : this.#remember(at, known);
    }
    if (known?.kind === 'opaque' && kind !== 'text') {
      // The seal came before the block that it belongs to.
      known.kind = kind;
      known.closed = false;
      return this.#remember(at, known);
    }
    if (known !== undefined) this.#close(known);
    const block = this.#add(kind);
    this.#byKey.set(at, block);
    this.#skipped.delete(at);
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
    if (text !== '' && this.#earlier.size > 0 && this.#isRepeated(block)) return this.#break(repeated);
    if (block.kind === 'call') this.#tell({ type: 'tool_call', index, call: block.call(problem) });
    else if (text !== '') {
      if (block.kind === 'text') this.#tell({ type: 'text', index, text });
      else if (block.kind === 'reasoning') this.#tell({ type: 'reasoning', index, text });
    }
  }

  /** Whether it is the block that stood in its place before, once more. */
  #isRepeated(block: ResponseBlock): boolean {
    for (const [at, { kind, text }] of this.#earlier)
      if (this.#byKey.get(at) === block && kind === block.kind && text === block.text) return true;
    return false;
  }

  /** A watcher's failure is the watcher's own. */
  #tell(event: AgentEvent): void {
    const emit = this.#emit;
    if (emit === undefined) return;
    try {
      emit(event);
    } catch {}
  }
}

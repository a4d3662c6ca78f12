import type { AssistantPart } from '@cobbler/agent';
import type { OutgoingCall, ResponseChunk, TextKind } from './chunk.ts';

/** A block of a response that was streamed partly or completely. */
interface StreamedBlock {
  readonly kind: TextKind | 'call';
  readonly id: string;
  /** Its index in the provider's stream. */
  readonly index: number;
  /** Its text; for a call, a string of all its fields. */
  text: string;
  isOpen: boolean;
}

type VisiblePart = Exclude<AssistantPart, { type: 'opaque' }>;

/** The blocks of one response: streamed as they arrive, and completed from the committed response. */
export class ResponseBlocks {
  readonly #answer: string;
  readonly #blocks: StreamedBlock[] = [];

  /** @param answer id of the response, from which the ids of its blocks and calls derive. */
  constructor(answer: string) {
    this.#answer = answer;
  }

  /** The ids of its calls, in order. */
  get calls(): string[] {
    return this.#blocks.filter(({ kind }) => kind === 'call').map(({ id }) => id);
  }

  delta(kind: TextKind, index: number, text: string): ResponseChunk[] {
    if (text === '') return [];
    const last = this.#blocks.at(-1);
    if (last?.isOpen === true && last.index === index) return [more(last, text)];
    return [...this.close(), ...this.#open(kind, index, text)];
  }

  whole(kind: TextKind, index: number, text: string): ResponseChunk[] {
    const last = this.#blocks.at(-1);
    if (last?.isOpen !== true || last.index !== index) {
      return text === '' ? [] : [...this.close(), ...this.#open(kind, index, text), ...this.close()];
    }
    // The committed text differs from the streamed text, and takes precedence.
    if (!text.startsWith(last.text)) return [];
    return [...rest(last, text), ...this.close()];
  }

  call({ id, toolName, arguments: args }: OutgoingCall): ResponseChunk[] {
    const block = {
      kind: 'call',
      id: `${this.#answer}-call-${this.calls.length + 1}`,
      index: -1,
      text: JSON.stringify([id, toolName, args]),
      isOpen: false,
    } as const;
    const closed = this.close();
    this.#blocks.push({ ...block });
    const call = { id: block.id, toolName, arguments: args };
    return [...closed, { type: 'call', answer: this.#answer, call }];
  }

  /** Ends the open block. */
  close(): ResponseChunk[] {
    const last = this.#blocks.at(-1);
    if (last === undefined || last.kind === 'call' || !last.isOpen) return [];
    last.isOpen = false;
    return [{ type: 'close', kind: last.kind, id: last.id }];
  }

  /** True if everything streamed so far is the start of this content. */
  fits(content: readonly AssistantPart[]): boolean {
    const parts = visibleParts(content);
    return this.#blocks.every(({ kind, text, isOpen }, place) => {
      const part = parts[place];
      if (part === undefined || kind !== (part.type === 'tool_call' ? 'call' : part.type)) return false;
      return isOpen ? textOf(part).startsWith(text) : textOf(part) === text;
    });
  }

  /** Returns the chunks that complete a response whose streamed part fits. */
  commit(content: readonly AssistantPart[]): ResponseChunk[] {
    return visibleParts(content).flatMap((part, place) => {
      const block = this.#blocks[place];
      if (block?.isOpen === true) return [...rest(block, textOf(part)), ...this.close()];
      if (block !== undefined) return [];
      if (part.type === 'tool_call') return this.call(part);
      return this.whole(part.type, -1, part.text);
    });
  }

  #open(kind: TextKind, index: number, text: string): ResponseChunk[] {
    const id = `${this.#answer}-${kind}-${this.#blocks.length + 1}`;
    const block: StreamedBlock = { kind, id, index, text: '', isOpen: true };
    this.#blocks.push(block);
    return [{ type: 'open', kind, id }, more(block, text)];
  }
}

function more(block: StreamedBlock, text: string): ResponseChunk {
  block.text += text;
  return { type: 'more', kind: block.kind === 'reasoning' ? 'reasoning' : 'text', id: block.id, text };
}

function rest(block: StreamedBlock, text: string): ResponseChunk[] {
  return text.length > block.text.length ? [more(block, text.slice(block.text.length))] : [];
}

function visibleParts(content: readonly AssistantPart[]): VisiblePart[] {
  return content.filter(
    (part): part is VisiblePart => part.type !== 'opaque' && (part.type === 'tool_call' || part.text !== ''),
  );
}

function textOf(part: VisiblePart): string {
  return part.type === 'tool_call' ? JSON.stringify([part.id, part.toolName, part.arguments]) : part.text;
}

import type { LiveEvent, RunEvent } from '../events/event.ts';
import { ignore } from '../events/event-groups.ts';
import type { AssistantPart } from '../values/message.ts';
import { wellFormedAnswer } from '../values/unicode.ts';

/** Maximum number of characters kept of one response. */
const maxCharacters = 1024 * 1024;

/** Number of characters that a block counts in addition to its text. */
const blockCharacters = 64;

type Call = Extract<LiveEvent, { type: 'tool_call' }>['call'];

interface TextBlock {
  readonly type: 'text' | 'reasoning';
  readonly index: number;
  text: string;
  isWhole: boolean;
}

/** A block of a response, as far as it has arrived. */
type Block = TextBlock | { readonly type: 'tool_call'; readonly index: number; readonly call: Call };

/**
 * The response that a run is receiving, as far as it has arrived; no other place keeps it. Readers that join late
 * start with it, and the log stores it if the response ends early. Of a response that exceeds the maximum, only the
 * start is kept: the log can store it, but late readers do not receive it.
 */
export class AnswerSoFar {
  #status: Extract<LiveEvent, { type: 'status' }> | undefined;
  #blocks: Block[] = [];
  #latest: TextBlock | undefined;
  #characters = 0;

  /** Processes the next event of the run. Does as little as possible, because it is called for every delta. */
  handle(event: RunEvent): void {
    switch (event.type) {
      case 'text_delta': {
        const { index, text } = event;
        const latest = this.#latest;
        // Nearly every delta continues the block of the previous one.
        if (latest?.index !== index || latest.type !== 'text' || latest.isWhole || typeof text !== 'string')
          return this.#extend('text', index, text);
        this.#characters += text.length;
        if (this.#characters <= maxCharacters) latest.text += text;
        return;
      }
      case 'tool_input_delta':
        return;
      case 'reasoning_delta':
        return this.#extend('reasoning', event.index, event.text);
      case 'text':
      case 'reasoning':
        return this.#complete(event);
      case 'tool_call':
        if (this.#fits(blockCharacters))
          this.#blocks.push({ type: 'tool_call', index: event.index, call: event.call });
        return;
      case 'retry':
        return this.#clear();
      case 'status':
        this.#status = event;
        if (event.state === 'thinking') this.#clear();
        return;
      case 'assistant':
      case 'ask_failed':
      case 'finished':
        this.#clear();
        this.#status = undefined;
        return;
      case 'tool_result':
      case 'approval_decided':
        this.#status = undefined;
        return;
      default:
        return ignore<'input' | 'call' | 'note' | 'stream' | 'activity'>(event);
    }
  }

  /** The events that a reader joining now needs before all later ones; empty if the response is too long. */
  get events(): LiveEvent[] {
    if (this.#characters > maxCharacters) return [];
    const status = this.#status === undefined ? [] : [this.#status];
    return [...status, ...this.#blocks.map(eventOf)];
  }

  /** The text and reasoning that the log can store; empty without text. Calls are left out, complete or not. */
  get content(): readonly AssistantPart[] {
    const parts = this.#blocks.flatMap((block): AssistantPart[] =>
      block.type === 'tool_call' ? [] : [{ type: block.type, text: block.text }],
    );
    const saysSomething = parts.some((part) => part.type === 'text' && part.text.trim() !== '');
    return saysSomething ? wellFormedAnswer(parts) : [];
  }

  /** Adds a delta. */
  #extend(type: TextBlock['type'], index: number, delta: string): void {
    const block = this.#openBlock(type, index);
    const before = block === undefined ? '' : block.text;
    // Agents can emit anything: what is not a text becomes one.
    const longer = before + delta;
    if (block === undefined) return this.#add({ type, index, text: longer, isWhole: false });
    this.#characters += longer.length - before.length;
    if (this.#characters <= maxCharacters) block.text = longer;
  }

  /** Replaces the deltas of a block, if there are any, with the complete block. */
  #complete({ type, index, text }: Extract<LiveEvent, { type: TextBlock['type'] }>): void {
    const block = this.#openBlock(type, index);
    if (block === undefined) return this.#add({ type, index, text, isWhole: true });
    if (!this.#fits(text.length - block.text.length)) return;
    block.text = text;
    block.isWhole = true;
  }

  /** Returns the block that a delta extends. The blocks of one response can be interleaved. */
  #openBlock(type: TextBlock['type'], index: number): TextBlock | undefined {
    const latest = this.#latest;
    if (latest?.type === type && latest.index === index && !latest.isWhole) return latest;
    const last = this.#blocks.findLast((block) => block.type === type && block.index === index);
    return last?.type === type && !last.isWhole ? last : undefined;
  }

  #add(block: TextBlock): void {
    if (!this.#fits(block.text.length + blockCharacters)) return;
    this.#latest = block;
    this.#blocks.push(block);
  }

  /** Returns whether that many more characters fit. Once they do not, nothing more is accepted. */
  #fits(characters: number): boolean {
    if (this.#characters > maxCharacters) return false;
    this.#characters += characters;
    return this.#characters <= maxCharacters;
  }

  #clear(): void {
    this.#blocks = [];
    this.#latest = undefined;
    this.#characters = 0;
  }
}

function eventOf(block: Block): LiveEvent {
  if (block.type === 'tool_call') return block;
  const { type, index, text, isWhole } = block;
  return { type: isWhole ? type : `${type}_delta`, index, text };
}

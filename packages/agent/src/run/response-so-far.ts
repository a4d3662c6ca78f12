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
      case 'text_delta':
        return this.#add('text', event, false);
      case 'reasoning_delta':
        return this.#add('reasoning', event, false);
      case 'text':
      case 'reasoning':
        return this.#add(event.type, event, true);
      case 'tool_call':
        if (this.#fits(0)) this.#blocks.push({ type: 'tool_call', index: event.index, call: event.call });
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

  /** Adds a part of a block, or all of it. The blocks of one response can be interleaved. */
  #add(type: TextBlock['type'], given: { index: number; text: string }, isWhole: boolean): void {
    const { index } = given;
    // Nearly every delta continues the block of the previous one.
    const isLatest = this.#latest?.type === type && this.#latest.index === index;
    const last = isLatest
      ? this.#latest
      : this.#blocks.findLast((block) => block.type === type && block.index === index);
    const open = last?.type === type && !last.isWhole ? last : undefined;
    const before = open?.text ?? '';
    const text = isWhole ? given.text : before + given.text;
    if (!this.#fits(text.length - before.length, open === undefined)) return;
    if (open !== undefined) {
      open.text = text;
      open.isWhole = isWhole;
      return;
    }
    this.#latest = { type, index, text, isWhole };
    this.#blocks.push(this.#latest);
  }

  /** Returns whether that many more characters fit. Once they do not, nothing more is accepted. */
  #fits(characters: number, isNew = true): boolean {
    if (this.#characters > maxCharacters) return false;
    this.#characters += characters + (isNew ? blockCharacters : 0);
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

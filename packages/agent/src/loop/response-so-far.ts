import type { LiveEvent, RunEvent } from '../events/event.ts';
import { ignore } from '../events/event-groups.ts';
import type { AssistantPart } from '../values/message.ts';
import { wellFormedAnswer } from '../values/unicode.ts';

/** Characters that are kept of one answer. */
const maxCharacters = 1024 * 1024;

/** What a block counts besides its text. */
const blockCharacters = 64;

type Call = Extract<LiveEvent, { type: 'tool_call' }>['call'];

interface TextBlock {
  readonly type: 'text' | 'reasoning';
  readonly index: number;
  text: string;
  isWhole: boolean;
}

/** A block of an answer, as far as it has come. */
type Block = TextBlock | { readonly type: 'tool_call'; readonly index: number; readonly call: Call };

/**
 * The answer that a run's model is giving, as far as it has come: the one place that keeps it. Readers that come late
 * begin with it, and the log takes it when the answer ends too early. Of an answer that is longer than a bound it keeps
 * the beginning, which the log can take and late readers do without.
 */
export class AnswerSoFar {
  #status: Extract<LiveEvent, { type: 'status' }> | undefined;
  #blocks: Block[] = [];
  #characters = 0;

  /** Takes in the next event of the run. A function of its own, because it is called for every delta. */
  hear(event: RunEvent): void {
    switch (event.type) {
      case 'text_delta':
        return this.#more('text', event.index, event.text);
      case 'reasoning_delta':
        return this.#more('reasoning', event.index, event.text);
      case 'text':
      case 'reasoning':
        return this.#whole(event.type, event.index, event.text);
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

  /** What a reader that comes now has to get before all that follows; nothing when that cannot be whole. */
  get events(): LiveEvent[] {
    if (this.#characters > maxCharacters) return [];
    const status = this.#status === undefined ? [] : [this.#status];
    return [...status, ...this.#blocks.map(eventOf)];
  }

  /** The text and reasoning, as they may stand in the log; nothing without text. A call is left out, whole or not. */
  get content(): readonly AssistantPart[] {
    const parts = this.#blocks.flatMap((block): AssistantPart[] =>
      block.type === 'tool_call' ? [] : [{ type: block.type, text: block.text }],
    );
    const saysSomething = parts.some((part) => part.type === 'text' && part.text.trim() !== '');
    return saysSomething ? wellFormedAnswer(parts) : [];
  }

  #more(type: TextBlock['type'], index: number, text: string): void {
    const open = this.#open(type, index);
    if (!this.#fits(text.length, open === undefined)) return;
    if (open !== undefined) open.text += text;
    else this.#blocks.push({ type, index, text, isWhole: false });
  }

  #whole(type: TextBlock['type'], index: number, text: string): void {
    const open = this.#open(type, index);
    if (!this.#fits(text.length - (open?.text.length ?? 0), open === undefined)) return;
    if (open === undefined) this.#blocks.push({ type, index, text, isWhole: true });
    else Object.assign(open, { text, isWhole: true });
  }

  /** The block, when more of it may come: blocks of one answer may come in turns. */
  #open(type: TextBlock['type'], index: number): TextBlock | undefined {
    for (let at = this.#blocks.length - 1; at >= 0; at -= 1) {
      const block = this.#blocks[at];
      if (block?.type !== type || block.index !== index) continue;
      return block.isWhole ? undefined : block;
    }
    return undefined;
  }

  /** Whether there is room for so much more. Once there was none, nothing is taken any longer. */
  #fits(characters: number, isNew = true): boolean {
    if (this.#characters > maxCharacters) return false;
    this.#characters += characters + (isNew ? blockCharacters : 0);
    return this.#characters <= maxCharacters;
  }

  #clear(): void {
    this.#blocks = [];
    this.#characters = 0;
  }
}

function eventOf(block: Block): LiveEvent {
  const { index } = block;
  if (block.type === 'tool_call') return { type: 'tool_call', index, call: block.call };
  const { type, text, isWhole } = block;
  if (isWhole) return { type, index, text };
  return { type: type === 'text' ? 'text_delta' : 'reasoning_delta', index, text };
}

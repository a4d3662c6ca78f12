import type { AgentEvent, AssistantPart, Usage } from '@cobbler/agent';
import { addUsage, noUsage } from '@cobbler/agent';
import type { BackendEvent } from '../events/backend-event.ts';

/** Builds a response from its stream, block by block. */
export class ResponseBuilder {
  readonly #emit: (event: AgentEvent) => void;
  #parts: AssistantPart[] = [];
  #answer: string | undefined;
  #isWhole = false;
  #usage: Usage = noUsage;
  #model: string | undefined;

  constructor(emit: (event: AgentEvent) => void) {
    this.#emit = emit;
  }

  get parts(): readonly AssistantPart[] {
    return this.#parts;
  }

  get usage(): Usage {
    return this.#usage;
  }

  get model(): string | undefined {
    return this.#model;
  }

  get isEmpty(): boolean {
    return this.#parts.length === 0;
  }

  /** The texts of the response, one for each block. */
  get texts(): readonly string[] {
    return this.#parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  }

  get hasCalls(): boolean {
    return this.#parts.some(({ type }) => type === 'tool_call');
  }

  /** Returns true if the event belongs to another response, so that the current one is complete. */
  startsAnother(event: BackendEvent): boolean {
    if (this.isEmpty) return false;
    if (event.type === 'delta') return this.#isWhole;
    if (event.type !== 'part') return false;
    const isOther = event.answer !== undefined && this.#answer !== undefined && event.answer !== this.#answer;
    return this.#isWhole || isOther;
  }

  /** Adds an event. Returns true if the response is complete. */
  take(event: BackendEvent): boolean {
    if (event.type === 'delta') this.#delta(event);
    if (event.type === 'part') this.#part(event);
    if (event.type === 'withdrawn') this.#withdraw(event);
    if (event.type !== 'answered') return false;
    if (event.usage !== undefined) this.#usage = addUsage(this.#usage, event.usage);
    this.#isWhole = !this.isEmpty;
    return this.#isWhole;
  }

  /** Adds a text that was not reported as a block. */
  say(text: string): void {
    if (text !== '') this.#part({ type: 'part', part: { type: 'text', text } });
  }

  #delta({ of, text }: Extract<BackendEvent, { type: 'delta' }>): void {
    const index = this.#parts.length;
    if (text !== '') this.#emit({ type: of === 'text' ? 'text_delta' : 'reasoning_delta', index, text });
  }

  #part({ part, answer, model }: Extract<BackendEvent, { type: 'part' }>): void {
    const index = this.#parts.length;
    this.#parts.push(part);
    this.#answer ??= answer;
    this.#model ??= model;
    if (part.type === 'text' || part.type === 'reasoning')
      this.#emit({ type: part.type, index, text: part.text });
    if (part.type === 'tool_call') {
      const { id, toolName, arguments: given } = part;
      this.#emit({ type: 'tool_call', index, call: { id, toolName, arguments: given } });
    }
  }

  #withdraw({ attempt, error, delayMs, wasted }: Extract<BackendEvent, { type: 'withdrawn' }>): void {
    this.#parts = [];
    // Usage of Cobbler's attempts is counted separately. A program with its own retries includes them in its usage.
    if (wasted !== undefined) this.#usage = noUsage;
    this.#answer = undefined;
    this.#isWhole = false;
    this.#emit({ type: 'retry', attempt, error, delayMs });
  }
}

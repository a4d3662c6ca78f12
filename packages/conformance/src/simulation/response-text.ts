import type { RunEvent } from '@cobbler/agent';
import type { ServedRequest } from './environment/service.ts';

/**
 * The text of the response that a run is receiving, computed from its events alone: a retry or a new request
 * discards the text of the attempt before it.
 */
export class ResponseText {
  #blocks = new Map<number, string>();

  /** The text so far, of all blocks in their order. */
  get text(): string {
    return [...this.#blocks]
      .sort(([one], [other]) => one - other)
      .map(([, text]) => text)
      .join('');
  }

  see(event: RunEvent): void {
    if (event.type === 'text_delta')
      this.#blocks.set(event.index, (this.#blocks.get(event.index) ?? '') + event.text);
    else if (event.type === 'text') this.#blocks.set(event.index, event.text);
    else if (endsAttempt(event)) this.#blocks.clear();
  }
}

function endsAttempt(event: RunEvent): boolean {
  if (event.type === 'status') return event.state === 'thinking';
  return ['retry', 'assistant', 'ask_failed', 'finished'].includes(event.type);
}

/** Returns the text in the content of a response, as the log stores it. */
export function storedText(content: readonly { readonly type: string }[]): string {
  return content
    .map((part) => (part.type === 'text' && 'text' in part ? String(part.text) : ''))
    .join('')
    .toWellFormed();
}

/** Returns the whole text that the service wanted to send in a response. */
export function intendedText({ answer }: ServedRequest): string {
  return answer.blocks.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

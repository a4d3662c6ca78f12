import { Observable } from '../parts/observable.ts';
import type { FoundMessage } from './api.ts';
import { ApiError, api } from './api.ts';

/** Time without a key press before a search, and before an incomplete one is repeated, in milliseconds. */
const pauseMs = 250;

/** A search in the messages of all sessions. */
export class MessageSearch extends Observable {
  items: readonly FoundMessage[] = [];
  /** What to tell about the result, such as that it is incomplete. */
  note = '';
  #words = '';
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Searches for the words after a pause; without words, finds nothing. */
  look(words: string): void {
    if (words === this.#words) return;
    this.#words = words;
    clearTimeout(this.#timer);
    if (words === '') this.#show([], '');
    else this.#timer = setTimeout(() => void this.#ask(words), pauseMs);
  }

  async #ask(words: string): Promise<void> {
    try {
      const { items, isComplete } = await api.search(words);
      if (words !== this.#words) return;
      this.#show(items, isComplete ? '' : 'Older messages are still being indexed…');
      if (!isComplete) this.#timer = setTimeout(() => void this.#ask(words), pauseMs);
    } catch (error) {
      const isMissing = error instanceof ApiError && error.code === 'no_search';
      this.#show([], isMissing ? 'This server searches titles only.' : 'The messages could not be searched.');
    }
  }

  #show(items: MessageSearch['items'], note: string): void {
    this.items = items;
    this.note = note;
    this.notify();
  }
}

import type { RunEvent } from '../events/event.ts';
import { AgentError } from '../values/errors.ts';
import { textIn } from '../values/message.ts';
import type { Feed } from './feed.ts';

/** Returns the result of a run, which throws if it did not complete. */
type Result = Promise<{ unwrap(): unknown }>;

/** Maximum number of characters that wait for a slow reader, with those of the current response that it has read. */
export const maxUnreadLength = 67_108_864;

/** The text between two responses. */
const gap = '\n\n';

/** Returns the complete text of a run. @throws AgentError if the run does not complete. */
export async function wholeText(feed: Feed, result: Result): Promise<string> {
  (await result).unwrap();
  const texts: string[] = [];
  const leave = feed.follow((event) => {
    if (event.type === 'assistant') texts.push(textIn(event.content));
  });
  leave();
  return texts.filter((text) => text !== '').join(gap);
}

/**
 * Yields the text of a run as it arrives.
 * @throws AgentError if the run does not complete; kind `agent`, code `text_discarded`, if an attempt at a response
 * does not start with the text that was yielded from an earlier one, or if too much text waits to be read.
 */
export async function* textChunks(feed: Feed, result: Result): AsyncGenerator<string, void> {
  const text = new TextSoFar();
  let isOver = false;
  let wake = () => {};
  // Listens instead of reading, because the queue of a reader drops deltas when it is full.
  const leave = feed.follow((event) => {
    text.handle(event);
    wake();
  });
  void result.then(() => {
    isOver = true;
    wake();
  });
  try {
    for (;;) {
      const chunk = text.take();
      if (chunk !== '') yield chunk;
      else if (isOver) break;
      else
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
    }
  } finally {
    leave();
  }
  (await result).unwrap();
}

/** The text of a run that was yielded, and the text that can be yielded next. */
class TextSoFar {
  /** Complete text that was not yielded yet. */
  #complete = '';
  /** Text of the current attempt at a response that was not yielded yet. A retry voids it. */
  #pending = '';
  /** Text of the current response that was yielded, from whichever attempt. */
  #yielded = '';
  /** Number of characters of the current attempt, which must repeat what was yielded. */
  #length = 0;
  #hasText = false;
  #isDiscarded = false;
  #isTooLong = false;

  handle(event: RunEvent): void {
    if (this.#isTooLong) return;
    if (event.type === 'text_delta') this.#more(event.text);
    else if (event.type === 'retry' || event.type === 'ask_failed') this.#restart();
    else if (event.type === 'assistant') this.#end(textIn(event.content));
    this.#isTooLong = this.#complete.length + this.#pending.length + this.#yielded.length > maxUnreadLength;
  }

  /** Returns the text since the last call. */
  take(): string {
    if (this.#isDiscarded) throw discardedError(cutOff);
    if (this.#isTooLong) throw discardedError(tooSlow);
    const next = this.#complete + this.#withGap(this.#pending);
    this.#yielded += this.#pending;
    this.#complete = '';
    this.#pending = '';
    return next;
  }

  #more(text: string): void {
    const again = text.slice(0, Math.max(0, this.#yielded.length - this.#length));
    this.#isDiscarded ||= again !== '' && !this.#yielded.startsWith(again, this.#length);
    this.#pending += text.slice(again.length);
    this.#length += text.length;
  }

  #restart(): void {
    this.#pending = '';
    this.#length = 0;
  }

  /** The response is complete, and begins with what was yielded unless an attempt was discarded. */
  #end(text: string): void {
    this.#isDiscarded ||= !text.startsWith(this.#yielded.toWellFormed());
    this.#complete += this.#withGap(text.slice(this.#yielded.length));
    this.#hasText ||= text !== '';
    this.#yielded = '';
    this.#restart();
  }

  /** Returns text of the current response, after a gap if it is the start and an earlier response has text. */
  #withGap(text: string): string {
    return text !== '' && this.#yielded === '' && this.#hasText ? gap + text : text;
  }
}

const cutOff =
  'the connection was lost after part of a response was shown, and the next attempt began differently';
const tooSlow = `more than ${maxUnreadLength} characters of it are unread`;

function discardedError(why: string): AgentError {
  const message = `The run's text cannot be streamed any further: ${why}. Await run.text() for the complete text, or read the events of the run.`;
  return new AgentError({ kind: 'agent', code: 'text_discarded', message });
}

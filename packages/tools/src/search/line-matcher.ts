import { Worker } from 'node:worker_threads';
import type { Runtime } from '@cobbler/agent';
import { lineMatcherSource } from './line-matcher-source.ts';

export interface LinePattern {
  readonly source: string;
  readonly flags: string;
  /** Lines shown before and after each match. */
  readonly context: number;
}

/** A line to show: its number, whether it matches, its text. */
export type ShownLine = readonly [line: number, isMatch: boolean, text: string];

export interface LineMatches {
  /** Matching lines, shown or not. */
  readonly count: number;
  readonly lines: readonly ShownLine[];
}

export interface LineMatcherOptions {
  /** Time that one text may take, in milliseconds. */
  readonly timeoutMs: number;
  /** Matches shown of one text. */
  readonly maxMatches: number;
  readonly runtime: Pick<Runtime, 'timer'>;
  readonly signal: AbortSignal;
}

const maxLineLength = 400;
const maxHeapMb = 256;

/**
 * Runs a regular expression over texts in a thread of its own. Some expressions take longer than the age of
 * the universe on some texts, and nothing but ending the thread stops them.
 */
export class LineMatcher {
  readonly #worker: Worker;
  readonly #options: LineMatcherOptions;
  readonly #onAbort = (): void => this.#finish();
  /** Pending requests, in order. The time limit applies to the first. */
  #waiting: ((matches: LineMatches | undefined) => void)[] = [];
  #cancelClock: () => void = () => {};
  #isReady = false;
  #isOver = false;

  constructor(pattern: LinePattern, options: LineMatcherOptions) {
    this.#options = options;
    this.#worker = new Worker(lineMatcherSource, {
      eval: true,
      env: {},
      workerData: { ...pattern, maxMatches: options.maxMatches, maxLength: maxLineLength },
      resourceLimits: { maxOldGenerationSizeMb: maxHeapMb },
    });
    this.#worker.on('message', (message: LineMatches | 'ready') => this.#take(message));
    // Out of memory, or an expression that turns out too large: no further answer will come.
    this.#worker.on('error', () => this.#finish());
    options.signal.addEventListener('abort', this.#onAbort, { once: true });
    if (options.signal.aborted) this.#finish();
  }

  /**
   * Finds the matching lines of a text.
   * @returns nothing when the expression took too long, here or on an earlier text, or was stopped.
   */
  async match(text: string): Promise<LineMatches | undefined> {
    if (this.#isOver) return undefined;
    return await new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#worker.postMessage(text);
      if (this.#waiting.length === 1) this.#startClock();
    });
  }

  /** Ends the thread, whatever it is doing. */
  async close(): Promise<void> {
    this.#options.signal.removeEventListener('abort', this.#onAbort);
    this.#finish();
    await this.#worker.terminate();
  }

  #take(message: LineMatches | 'ready'): void {
    this.#cancelClock();
    if (message === 'ready') this.#isReady = true;
    else this.#waiting.shift()?.(message);
    if (this.#waiting.length > 0) this.#startClock();
  }

  /** Starting the thread is not the expression's fault. */
  #startClock(): void {
    if (this.#isReady)
      this.#cancelClock = this.#options.runtime.timer(this.#options.timeoutMs, () => this.#finish());
  }

  #finish(): void {
    this.#isOver = true;
    this.#cancelClock();
    for (const resolve of this.#waiting.splice(0)) resolve(undefined);
    void this.#worker.terminate();
  }
}

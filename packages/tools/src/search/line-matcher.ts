import { Worker } from 'node:worker_threads';
import type { Runtime } from '@cobbler/agent';

export interface LinePattern {
  readonly source: string;
  readonly flags: string;
  /** Number of lines shown before and after each match. */
  readonly context: number;
}

/** A line to show: its number, whether it matches, and its text. */
export type ShownLine = readonly [line: number, isMatch: boolean, text: string];

export interface LineMatches {
  /** Number of matching lines, shown or not. */
  readonly count: number;
  readonly lines: readonly ShownLine[];
}

export interface LineMatcherOptions {
  /** Time limit for one text, in milliseconds. */
  readonly timeoutMs: number;
  /** Maximum number of matches shown for one text. */
  readonly maxMatches: number;
  readonly runtime: Pick<Runtime, 'timer'>;
  readonly signal: AbortSignal;
}

const maxLineLength = 400;
const maxHeapMb = 256;

/** Matches a regular expression in a separate thread, because only ending the thread stops some expressions. */
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
    // Out of memory, or an expression that turns out to be too large: no further response will arrive.
    this.#worker.on('error', () => this.#finish());
    options.signal.addEventListener('abort', this.#onAbort, { once: true });
    if (options.signal.aborted) this.#finish();
  }

  /**
   * Finds the matching lines of a text.
   * @returns undefined if the expression took too long, on this or an earlier text, or was stopped
   */
  async match(text: string): Promise<LineMatches | undefined> {
    if (this.#isOver) return undefined;
    return await new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#worker.postMessage(text);
      if (this.#waiting.length === 1) this.#startClock();
    });
  }

  /** Ends the thread, even while it is matching. */
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

  /** Starts the time limit after the thread has started, so that it applies only to the expression. */
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

/**
 * The program of the thread that matches the regular expression, as a string. Bundlers would have to locate a
 * separate file, but a string works wherever the package does.
 *
 * The thread receives `{ source, flags, context, maxMatches, maxLength }` once, and then texts one at a time. It
 * responds to each with `{ count, lines: [number, isMatch, text][] }`: the number of all matching lines, and the
 * first of them with the surrounding lines. A long line is shortened around its match.
 */
const lineMatcherSource: string = `
const { parentPort, workerData } = require('node:worker_threads');
const { source, flags, context, maxMatches, maxLength } = workerData;
const pattern = new RegExp(source, flags);

function shorten(line, at) {
  if (line.length <= maxLength) return line;
  const start = Math.max(0, Math.min(at - Math.floor(maxLength / 4), line.length - maxLength));
  const end = start + maxLength;
  return (start > 0 ? '…' : '') + line.slice(start, end) + (end < line.length ? '…' : '');
}

function search(text) {
  const all = text.split(/\\r?\\n/);
  if (all.at(-1) === '') all.pop();
  const shown = new Map();
  let count = 0;
  for (let index = 0; index < all.length; index += 1) {
    const match = pattern.exec(all[index]);
    if (match === null) continue;
    count += 1;
    if (count > maxMatches) continue;
    for (let near = Math.max(0, index - context); near < Math.min(all.length, index + context + 1); near += 1) {
      if (!shown.has(near)) shown.set(near, [near + 1, false, shorten(all[near], 0)]);
    }
    shown.set(index, [index + 1, true, shorten(all[index], match.index)]);
  }
  return { count, lines: [...shown.values()].sort((left, right) => left[0] - right[0]) };
}

parentPort.on('message', (text) => parentPort.postMessage(search(text)));
parentPort.postMessage('ready');
`;

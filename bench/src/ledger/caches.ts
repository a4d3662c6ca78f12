import type { Bill } from './bill.ts';
import type { Prompt } from './prompt.ts';
import { tokensFor } from './prompt.ts';

/** The billing rules of a service for input. Reading a prompt changes the cache for the next one. */
export interface PromptCache {
  /** @param now in milliseconds. */
  bill(prompt: Prompt, now: number): Bill;
}

/** Minimum length of a cached prompt: both services require it for the models in use. */
const minTokens = 1024;

interface Entry {
  readonly keepMs: number;
  readonly until: number;
}

/**
 * The cache of the Messages API, according to platform.claude.com/docs/en/build-with-claude/prompt-caching:
 *
 * - At most four marks are allowed. Each writes one entry for everything up to its block.
 * - A mark finds entries at its own block and at the 19 blocks before it. Since 2026 the page says that a run of
 * calls or results counts as one block. Other providers of these models do not promise that, so the stricter rule is
 * used here.
 * - An entry lives for five minutes or an hour after the start of the last request that wrote or read it.
 * - A mark for an hour must not follow one for five minutes.
 * - The tokens after the entry that was found are written at the one-hour price up to the last one-hour mark, and
 * from there at the other price up to the last mark. The rest is plain.
 */
export class MarkedCache implements PromptCache {
  readonly #entries = new Map<string, Entry>();

  bill({ blocks }: Prompt, now: number): Bill {
    const upTo = runningTotals(blocks.map(({ tokens }) => tokens));
    const total = upTo.at(-1) ?? 0;
    const marks = [...blocks.entries()].flatMap(([at, { markMs }]) =>
      markMs === undefined ? [] : [{ at, markMs }],
    );
    checkMarks(marks.map(({ markMs }) => markMs));
    const found = Math.max(-1, ...marks.map(({ at }) => this.#lookBack(blocks, at, now)));
    if (found >= 0) this.#touch(blocks[found]?.prefix ?? '', now);
    const read = upTo[found] ?? 0;
    const written = marks.filter(({ at }) => at > found && (upTo[at] ?? 0) >= minTokens);
    for (const { at, markMs } of written) this.#put(blocks[at]?.prefix ?? '', markMs, now);
    const end = (long: boolean) =>
      upTo[Math.max(-1, ...written.filter(({ markMs }) => !long || markMs > 300_000).map(({ at }) => at))] ??
      0;
    const writeLong = Math.max(0, end(true) - read);
    const write = Math.max(0, end(false) - read - writeLong);
    return { read, writeLong, write, plain: total - read - writeLong - write };
  }

  /** Returns the index of the nearest live entry, or -1. */
  #lookBack(blocks: Prompt['blocks'], from: number, now: number): number {
    for (let at = from; at >= 0 && at > from - 20; at -= 1) {
      const entry = this.#entries.get(blocks[at]?.prefix ?? '');
      if (entry !== undefined && now <= entry.until) return at;
    }
    return -1;
  }

  #touch(prefix: string, now: number): void {
    const entry = this.#entries.get(prefix);
    if (entry !== undefined) this.#put(prefix, entry.keepMs, now);
  }

  #put(prefix: string, keepMs: number, now: number): void {
    this.#entries.set(prefix, { keepMs, until: now + keepMs });
  }
}

function checkMarks(keepMs: readonly number[]): void {
  if (keepMs.length > 4)
    throw new Error(`The service rejects ${keepMs.length} marks; at most four are allowed.`);
  if (keepMs.some((ms, index) => index > 0 && ms > (keepMs[index - 1] ?? ms)))
    throw new Error('The service rejects a mark for an hour after one for five minutes.');
}

/**
 * OpenAI's cache for GPT-5.6 and later, according to developers.openai.com/api/docs/guides/prompt-caching and the
 * SDK's comments on `prompt_cache_options`. It keeps everything up to the latest message of the user or a tool. It
 * finds it again at exactly that position, for half an hour after the last use, among the latest 80, and only under
 * the same key. Writing has a price. The explicit mode without a breakpoint neither reads nor writes.
 */
export class BreakpointCache implements PromptCache {
  readonly #entries = new Map<string, number>();

  bill({ blocks, key, isOff }: Prompt, now: number): Bill {
    const upTo = runningTotals(blocks.map(({ tokens }) => tokens));
    const total = upTo.at(-1) ?? 0;
    const last = blocks.findLastIndex(({ endsUser }) => endsUser === true);
    if (isOff === true || last < 0 || (upTo[last] ?? 0) < minTokens) return plainBill(total);
    const name = (at: number) => `${key}\0${blocks[at]?.prefix}`;
    const candidates = [...blocks.keys()].filter((at) => blocks[at]?.endsUser === true).slice(-80);
    const isAlive = (at: number) => key !== undefined && (this.#entries.get(name(at)) ?? -1) >= now;
    const found = candidates.findLast(isAlive) ?? -1;
    const read = upTo[found] ?? 0;
    for (const at of found < 0 ? [last] : [found, last]) this.#entries.set(name(at), now + 1_800_000);
    const write = (upTo[last] ?? 0) - read;
    return { read, write, writeLong: 0, plain: total - read - write };
  }
}

/**
 * OpenAI's cache for earlier models, according to the same sources: the longest prefix that this prompt shares with
 * any prompt of the last day, in steps of 128 tokens starting at 1,024. Writing is free.
 */
export class StepCache implements PromptCache {
  #kept: readonly { readonly text: string; readonly until: number }[] = [];

  bill({ text, blocks }: Prompt, now: number): Bill {
    const total = blocks.reduce((sum, { tokens }) => sum + tokens, 0);
    this.#kept = this.#kept.filter(({ until }) => now <= until);
    const common = Math.max(0, ...this.#kept.map((kept) => commonLength(kept.text, text)));
    const steps = Math.floor(tokensFor(common) / 128) * 128;
    const read = steps >= minTokens ? Math.min(steps, total) : 0;
    const others = this.#kept.filter((kept) => !text.startsWith(kept.text));
    this.#kept = [...others, { text, until: now + 86_400_000 }];
    return { read, write: 0, writeLong: 0, plain: total - read };
  }
}

function plainBill(plain: number): Bill {
  return { plain, read: 0, write: 0, writeLong: 0 };
}

/** Returns the running totals, each including its own value. */
function runningTotals(values: readonly number[]): number[] {
  let sum = 0;
  return values.map((value) => {
    sum += value;
    return sum;
  });
}

function commonLength(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  let at = 0;
  while (at < length && left[at] === right[at]) at += 1;
  return at;
}

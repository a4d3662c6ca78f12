/**
 * Tokens as the provider counted them. Only what a failed attempt used may be reckoned, and then says so.
 *
 * `inputTokens` is all input, cached tokens included; `outputTokens` is all output, reasoning included.
 * The other fields say how much of those two was cached or reasoning; they are absent when the provider
 * does not report them. The same numbers mean the same on every provider.
 */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Of the input, read from the provider's prompt cache. */
  readonly cacheReadTokens?: number;
  /** Of the input, written to the provider's prompt cache. */
  readonly cacheWriteTokens?: number;
  /** Of those written, what is kept for the longer of the provider's lifetimes, at a higher price. */
  readonly cacheWriteLongTokens?: number;
  /** Of the output, spent on reasoning. */
  readonly reasoningTokens?: number;
  /** True when part was never reported and is reckoned from what was sent and what arrived. */
  readonly estimated?: boolean;
}

/** No tokens at all. */
export const noUsage: Usage = Object.freeze({ inputTokens: 0, outputTokens: 0 });

type Detail = 'cacheReadTokens' | 'cacheWriteTokens' | 'cacheWriteLongTokens' | 'reasoningTokens';
const details: readonly Detail[] = [
  'cacheReadTokens',
  'cacheWriteTokens',
  'cacheWriteLongTokens',
  'reasoningTokens',
];

/** The sum of two usages. A detail stays absent only when neither side reports it. */
export function addUsage(left: Usage, right: Usage): Usage {
  const sum: { -readonly [key in keyof Usage]: Usage[key] } = {
    inputTokens: left.inputTokens + right.inputTokens,
    outputTokens: left.outputTokens + right.outputTokens,
  };
  for (const key of details) {
    if (left[key] !== undefined || right[key] !== undefined) sum[key] = (left[key] ?? 0) + (right[key] ?? 0);
  }
  if (left.estimated || right.estimated) sum.estimated = true;
  return sum;
}

/** True when nothing was used. */
export function isNoUsage(usage: Usage): boolean {
  return usage.inputTokens === 0 && usage.outputTokens === 0;
}

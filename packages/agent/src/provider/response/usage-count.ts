import type { Usage } from '../../values/usage.ts';
import { noUsage } from '../../values/usage.ts';

type CountField = Exclude<keyof Usage, 'estimated'>;

const counted: readonly CountField[] = [
  'inputTokens',
  'outputTokens',
  'cacheReadTokens',
  'cacheWriteTokens',
  'cacheWriteLongTokens',
  'reasoningTokens',
  'searches',
];

/** Estimated number of UTF-16 code units, or bytes, per token, for text whose tokens were not reported. */
const unitsPerToken = 4;

/** Maximum token count that a log stores. */
const maxCount = 1e12;

/** The token counts of one response. Counts are absolute: a later one replaces an earlier one. */
export class TokenCounts {
  /** True if a log can store every count that was reported. */
  isStorable = true;
  readonly #counts: { [key in CountField]?: number } = {};

  /** Stores the valid counts; services also send null and omit fields. */
  set(counts: Partial<Usage>): void {
    for (const key of counted) {
      const value = counts[key];
      if (value === undefined || !Number.isFinite(value) || value < 0) continue;
      this.isStorable &&= Number.isInteger(value) && value <= maxCount;
      this.#counts[key] = value;
    }
  }

  total(): Usage {
    return { ...noUsage, ...this.#counts };
  }

  /**
   * Returns the usage of a response that was cut off after `size` UTF-16 code units, to a request of `sentBytes` bytes.
   * Services report output before it is complete, so the output is the larger of the reported count and the estimate.
   * Some report the input only at the end, but a service that has started to respond has read it.
   */
  withArrived(size: number, sentBytes: number): Usage {
    const reported = this.total();
    const inputTokens = this.#counts.inputTokens ?? (size > 0 ? Math.ceil(sentBytes / unitsPerToken) : 0);
    const outputTokens = Math.max(reported.outputTokens, Math.ceil(size / unitsPerToken));
    if (inputTokens === reported.inputTokens && outputTokens === reported.outputTokens) return reported;
    return { ...reported, inputTokens, outputTokens, estimated: true };
  }
}

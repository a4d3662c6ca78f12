import type { Usage } from '../../values/usage.ts';
import { noUsage } from '../../values/usage.ts';

type Counted = Exclude<keyof Usage, 'estimated'>;

const counted: readonly Counted[] = [
  'inputTokens',
  'outputTokens',
  'cacheReadTokens',
  'cacheWriteTokens',
  'cacheWriteLongTokens',
  'reasoningTokens',
];

/** A rule of thumb for text whose tokens were not counted: UTF-16 units, or bytes, of one token. */
const unitsPerToken = 4;

/** The token counts of one answer. Counts are absolute: a later one replaces an earlier one. */
export class TokenCounts {
  readonly #counts: { [key in Counted]?: number } = {};

  /** Takes what is a count; services also send null and leave fields out. */
  set(counts: Partial<Usage>): void {
    for (const key of counted) {
      const value = counts[key];
      if (typeof value === 'number' && Number.isFinite(value) && value >= 0) this.#counts[key] = value;
    }
  }

  /** What the service reported. */
  total(): Usage {
    return { ...noUsage, ...this.#counts };
  }

  /**
   * The usage of an answer that broke off after `size` UTF-16 units, to a request of so many bytes. Services
   * give a first count of output before there is any, so the output is the larger of what was reported and
   * what must have been used. Some count the input only at the end; a service that has begun to respond has read it.
   */
  withArrived(size: number, sentBytes: number): Usage {
    const reported = this.total();
    const { inputTokens = size > 0 ? Math.ceil(sentBytes / unitsPerToken) : 0 } = this.#counts;
    const outputTokens = Math.max(reported.outputTokens, Math.ceil(size / unitsPerToken));
    if (inputTokens === reported.inputTokens && outputTokens === reported.outputTokens) return reported;
    return { ...reported, inputTokens, outputTokens, estimated: true };
  }
}

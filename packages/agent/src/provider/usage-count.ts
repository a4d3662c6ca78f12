import type { Usage } from '../usage.ts';
import { noUsage } from '../usage.ts';

type Counted = Exclude<keyof Usage, 'estimated'>;

const counted: readonly Counted[] = [
  'inputTokens',
  'outputTokens',
  'cacheReadTokens',
  'cacheWriteTokens',
  'reasoningTokens',
];

/** A rule of thumb for text whose tokens nobody counted. */
const unitsPerToken = 4;

/** The token counts of one answer. Counts are absolute: a later one replaces an earlier one. */
export class UsageCount {
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
   * The usage of an answer that broke off after `size` UTF-16 units. Services give a first count of output
   * before there is any, so the output is the larger of what was reported and what must have been used.
   */
  withArrived(size: number): Usage {
    const reported = this.total();
    const estimate = Math.ceil(size / unitsPerToken);
    if (estimate <= reported.outputTokens) return reported;
    return { ...reported, outputTokens: estimate, estimated: true };
  }
}

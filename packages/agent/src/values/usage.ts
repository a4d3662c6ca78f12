import type { Usage } from './stored-values.ts';

export type { Usage } from './stored-values.ts';

/** Usage of zero tokens. */
export const noUsage: Usage = Object.freeze({ inputTokens: 0, outputTokens: 0 });

type Detail = Exclude<keyof Usage, 'inputTokens' | 'outputTokens' | 'estimated'>;
const details: readonly Detail[] = [
  'cacheReadTokens',
  'cacheWriteTokens',
  'cacheWriteLongTokens',
  'reasoningTokens',
  'searches',
];

/** Returns the sum of two usages. A detail stays undefined only if neither reports it. */
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

/** Returns what remains of a usage without a part of it. */
export function subtractUsage(whole: Usage, part: Usage): Usage {
  const rest: { -readonly [key in keyof Usage]: Usage[key] } = { ...whole };
  for (const key of ['inputTokens', 'outputTokens', ...details] as const) {
    const count = whole[key];
    if (count !== undefined) rest[key] = Math.max(0, count - (part[key] ?? 0));
  }
  return rest;
}

/** Returns true if no tokens were used. */
export function isNoUsage(usage: Usage): boolean {
  return usage.inputTokens === 0 && usage.outputTokens === 0;
}

import type { Usage } from '@cobbler/agent';
import { defined } from '@cobbler/agent/values';
import type { Fields } from './fields.ts';
import { fieldsOf } from './fields.ts';

/**
 * Returns the token counts of either API, which have different field names. Input includes cached tokens, and output
 * includes reasoning, as `Usage` requires. A detail that the server omits stays absent.
 */
export function usageOf(
  usage: Fields,
  side: { readonly input: string; readonly output: string },
): Partial<Usage> {
  const input = fieldsOf(usage[`${side.input}_details`]);
  const output = fieldsOf(usage[`${side.output}_details`]);
  return defined({
    inputTokens: count(usage[side.input]),
    outputTokens: count(usage[side.output]),
    cacheReadTokens: count(input['cached_tokens']),
    cacheWriteTokens: count(input['cache_write_tokens']),
    reasoningTokens: count(output['reasoning_tokens']),
  });
}

function count(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

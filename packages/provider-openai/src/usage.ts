import type { Usage } from '@cobbler/agent';
import { isFields } from './fields.ts';

/**
 * Returns the token counts of either API, which have different field names. Input includes cached tokens, and output
 * includes reasoning, as `Usage` requires. A detail that the server omits stays absent.
 */
export function usageOf(
  usage: unknown,
  side: { readonly input: string; readonly output: string },
): Partial<Usage> {
  if (!isFields(usage)) return {};
  const inputDetails = detail(usage, `${side.input}_details`);
  const outputDetails = detail(usage, `${side.output}_details`);
  return {
    ...count('inputTokens', usage[side.input]),
    ...count('outputTokens', usage[side.output]),
    ...count('cacheReadTokens', inputDetails['cached_tokens']),
    ...count('cacheWriteTokens', inputDetails['cache_write_tokens']),
    ...count('reasoningTokens', outputDetails['reasoning_tokens']),
  };
}

function detail(usage: Record<string, unknown>, name: string): Record<string, unknown> {
  const details = usage[name];
  return isFields(details) ? details : {};
}

function count(name: keyof Usage, value: unknown): Partial<Usage> {
  return typeof value === 'number' && Number.isFinite(value) ? { [name]: value } : {};
}

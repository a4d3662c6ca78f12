import type { ExecutionMetrics, RequestUsage } from '../values/stored-values.ts';
import { addUsage, noUsage } from '../values/usage.ts';

export type { ExecutionMetrics, RequestUsage } from '../values/stored-values.ts';

/** Metrics of a run that has done nothing yet. */
export const noMetrics: ExecutionMetrics = Object.freeze({
  totalInputTokens: 0,
  totalOutputTokens: 0,
  invocations: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
  attempts: 0,
  toolCalls: 0,
  wasted: noUsage,
  usd: 0,
  durationMs: 0,
  modelMs: 0,
  toolMs: 0,
  waitedMs: 0,
});

/** Adds the usage of one response, or of several. If it has no price, the total cost is unknown, never too small. */
export function countAnswer(metrics: ExecutionMetrics, answer: RequestUsage): ExecutionMetrics {
  const { usd, ...rest } = metrics;
  const { usage } = answer;
  return {
    ...rest,
    totalInputTokens: metrics.totalInputTokens + usage.inputTokens,
    totalOutputTokens: metrics.totalOutputTokens + usage.outputTokens,
    invocations: metrics.invocations + (answer.answers ?? 1),
    cacheReadTokens: metrics.cacheReadTokens + (usage.cacheReadTokens ?? 0),
    cacheWriteTokens: metrics.cacheWriteTokens + (usage.cacheWriteTokens ?? 0),
    reasoningTokens: metrics.reasoningTokens + (usage.reasoningTokens ?? 0),
    attempts: metrics.attempts + answer.attempts,
    wasted: answer.wasted === noUsage ? metrics.wasted : addUsage(metrics.wasted, answer.wasted),
    modelMs: metrics.modelMs + answer.durationMs,
    ...(usd !== undefined && answer.usd !== undefined && { usd: usd + answer.usd }),
  };
}

import type { Usage } from '../values/usage.ts';
import { addUsage, noUsage } from '../values/usage.ts';

/** What a run used, counted once. The first three fields are those of seed requirement S0.24. */
export interface ExecutionMetrics {
  readonly totalInputTokens: number;
  readonly totalOutputTokens: number;
  /** Answers of the model. */
  readonly invocations: number;
  /** Of the input, read from the prompt cache. */
  readonly cacheReadTokens: number;
  /** Of the input, written to the prompt cache. */
  readonly cacheWriteTokens: number;
  /** Of the output, spent on reasoning. */
  readonly reasoningTokens: number;
  /** Requests sent, failed ones included. */
  readonly attempts: number;
  /** Tools that ran. */
  readonly toolCalls: number;
  /** Tokens that failed attempts used; not part of the totals. */
  readonly wasted: Usage;
  /** US dollars, or absent when a price is unknown. */
  readonly usd?: number;
  /** Time since the run began, in milliseconds. */
  readonly durationMs: number;
  /** Of that, waiting for the model. */
  readonly modelMs: number;
  /** Of that, running tools; tools that run together are added up. */
  readonly toolMs: number;
  /** Of that, waiting for people. */
  readonly waitedMs: number;
}

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

/** One answer of the model, as metrics count it. */
export interface RequestUsage {
  readonly usage: Usage;
  readonly wasted: Usage;
  readonly attempts: number;
  readonly durationMs: number;
  readonly usd?: number;
  /** How many answers these counts are the sum of. Default 1. */
  readonly answers?: number;
}

/** Adds one answer, or the sum of several. An answer without a price makes the money total unknown, never smaller. */
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
    wasted: addUsage(metrics.wasted, answer.wasted),
    modelMs: metrics.modelMs + answer.durationMs,
    ...(usd !== undefined && answer.usd !== undefined && { usd: usd + answer.usd }),
  };
}

import type { State } from '../events/state.ts';
import type { ModelRequest } from '../interfaces/agent.ts';
import type { Tool } from '../interfaces/tool.ts';
import type { Message } from '../values/message.ts';
import { byteLength } from '../values/truncate.ts';
import { isFile, roughFileTokens } from './file-tokens.ts';

/** Bytes of text per token, between English prose (about four) and other scripts (about two). */
const bytesPerToken = 3;

/**
 * Estimates the number of tokens of the next request: the service's count for the conversation plus an estimate of
 * what was added since, mainly tool output. Until the service has counted a request, `prefixTokens` is used for
 * instructions and tools. Used to decide whether to compact, never for limits.
 */
export function estimateTokens(state: State, prefixTokens: number): number {
  const counted = state.contextTokens > 0;
  let tokens = counted ? state.contextTokens : prefixTokens;
  for (let at = counted ? state.contextMessages : 0; at < state.messages.length; at += 1) {
    const message = state.messages[at];
    if (message !== undefined) tokens += roughTextTokens(message);
  }
  return tokens;
}

/** Returns whether the estimate exceeds `tokens`. If `tokens` is infinite, nothing is estimated. */
export function exceedsTokens(state: State, tokens: number, prefixTokens: number): boolean {
  return tokens !== Number.POSITIVE_INFINITY && estimateTokens(state, prefixTokens) > tokens;
}

/** Estimates the number of tokens of a message. */
export function roughTextTokens(message: Message): number {
  let tokens = 0;
  for (const part of message.content) {
    tokens += isFile(part) ? roughFileTokens(part) : textTokens(part);
  }
  return tokens;
}

/** Returns the parts of a tool that a model receives. */
export function declaration({ name, description, parameters }: Tool): unknown {
  return [name, description, parameters];
}

/** Estimates the number of tokens of instructions and tools. */
export function prefixTokens(system: ModelRequest['system'], tools: readonly Tool[]): number {
  return textTokens([system, tools.map(declaration)]);
}

/** Estimates the number of tokens of a value as JSON. */
export function textTokens(value: unknown): number {
  return Math.ceil(byteLength(JSON.stringify(value) ?? '') / bytesPerToken);
}

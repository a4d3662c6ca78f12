import type { State } from '../events/state.ts';
import type { ModelRequest } from '../interfaces/agent.ts';
import type { Tool } from '../interfaces/tool.ts';
import type { Message } from '../values/message.ts';
import { isFile, roughFileTokens } from './file-tokens.ts';

/** Bytes of text in one token: between prose (about four) and other scripts (about two). */
const bytesPerToken = 3;

/**
 * About how many tokens the next request weighs: what the service counted of the conversation, and an
 * estimate of what was added since, tool output above all. `prefixTokens` stands for instructions and tools
 * as long as nothing has been counted. For deciding whether to compact, never for limits.
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

/** Whether a conversation weighs more than so many tokens. Nothing is weighed when that many are no bound. */
export function exceedsTokens(state: State, tokens: number, prefixTokens: number): boolean {
  return tokens !== Number.POSITIVE_INFINITY && estimateTokens(state, prefixTokens) > tokens;
}

/** About how many tokens a message takes. */
export function roughTextTokens(message: Message): number {
  let tokens = 0;
  for (const part of message.content) {
    tokens += isFile(part) ? roughFileTokens(part) : textTokens(part);
  }
  return tokens;
}

/** About how many tokens instructions and tools take. */
export function prefixTokens(system: ModelRequest['system'], tools: readonly Tool[]): number {
  return textTokens([system, tools.map((tool) => [tool.name, tool.description, tool.parameters])]);
}

/** About how many tokens a value takes as JSON. */
function textTokens(value: unknown): number {
  return Math.ceil(encoder.encode(JSON.stringify(value) ?? '').length / bytesPerToken);
}

const encoder = new TextEncoder();

import type { ModelRequest } from './agent.ts';
import { safeCut } from './fold.ts';
import type { JsonObject } from './json.ts';
import type { Message } from './message.ts';
import type { State } from './state.ts';

/** How a conversation is kept small enough. */
export interface ContextPolicy {
  /** Compact when the conversation weighs more tokens than this, as the provider counted the last request. */
  readonly maxTokens: number;
  /** How many messages at the end stay as they are. Default 6. */
  readonly keep?: number;
  /** Puts older messages into words. What it throws fails the run. */
  summarize(messages: readonly Message[], context: { readonly signal: AbortSignal }): Promise<string>;
}

/** Up to where messages may be summarised: all but the last `keep`, and never between a call and its result. */
export function compactionPoint(messages: readonly Message[], keep: number): number {
  return safeCut(messages, messages.length - keep);
}

/**
 * The most tokens the next request can have as input: what the provider counted for the part it has seen,
 * and for the rest one token for every two bytes of JSON, which no tokenizer in use exceeds for ordinary text.
 */
export function inputBound(state: State, request: Pick<ModelRequest, 'tools' | 'system'>): number {
  const seen = state.contextTokens > 0 ? state.contextMessages : 0;
  let bytes = 0;
  for (const message of state.messages.slice(seen)) bytes += byteLength(message);
  if (seen === 0) {
    bytes += byteLength(request.system ?? '');
    for (const tool of request.tools) bytes += byteLength(declaration(tool));
  }
  return state.contextTokens + Math.ceil(bytes / 2);
}

function declaration(tool: { name: string; description: string; parameters: JsonObject }): unknown {
  return [tool.name, tool.description, tool.parameters];
}

/** Bytes of a value as JSON in UTF-8. */
function byteLength(value: unknown): number {
  return encoder.encode(JSON.stringify(value)).length;
}

const encoder = new TextEncoder();

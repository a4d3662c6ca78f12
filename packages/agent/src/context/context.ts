import type { State } from '../events/state.ts';
import type { ModelRequest } from '../interfaces/agent.ts';
import type { Message } from '../values/message.ts';
import { byteLength } from '../values/truncate.ts';
import type { Compaction } from './compaction.ts';
import { isFile, maxFileTokens } from './file-tokens.ts';
import type { Offload } from './offload.ts';
import { declaration } from './tokens.ts';

/** Share of the context window above which a conversation is shortened by default; the rest is for the response. */
export const defaultShare = 0.8;

/** Options that keep a conversation small enough. Each works without the others. */
export interface ContextPolicy {
  /**
   * Number of tokens above which the conversation is shortened: the provider's count for the last request plus an
   * estimate of what was added since. Default: four fifths of the model's context window, if known.
   */
  readonly maxTokens?: number;
  /**
   * Shortens the conversation between turns, at most once between two responses; also called if the provider reports
   * that the conversation no longer fits. Absent: never shortened.
   */
  readonly compact?: Compaction;
  /** Stores long tool output outside the conversation. Absent: the output stays in the conversation, up to 256 KiB. */
  readonly offload?: Offload;
}

/** Maximum number of tokens of a response that its output count lacks when it is sent as input: names, ids, brackets. */
const framingTokens = 32;

/**
 * Returns the maximum number of input tokens of the next request: the provider's count for the part it has seen, plus
 * one token for every two bytes of the rest as JSON. No current tokenizer exceeds that for ordinary text. Files are
 * counted by `maxFileTokens`.
 */
export function inputBound(
  state: Pick<State, 'messages' | 'contextTokens' | 'contextMessages'> & Partial<Pick<State, 'turns'>>,
  request: Pick<ModelRequest, 'tools' | 'system'>,
): number {
  const seen = state.contextTokens > 0 ? state.contextMessages : 0;
  let bytes = 0;
  let media = 0;
  for (const message of state.messages.slice(seen)) {
    const shown = message.content.filter(isFile);
    bytes += jsonBytes(shown.length === 0 ? message : withoutFiles(message));
    for (const part of shown) media += maxFileTokens(part);
  }
  // An earlier run may have used other tools and instructions.
  if (seen === 0 || state.turns === 0) {
    bytes += jsonBytes(request.system ?? '');
    for (const tool of request.tools) bytes += jsonBytes(declaration(tool));
  }
  const answered = state.messages[seen - 1]?.content.length ?? 0;
  return state.contextTokens + answered * framingTokens + media + Math.ceil(bytes / 2);
}

function withoutFiles(message: Message): unknown {
  return { ...message, content: [...message.content].filter((part) => !isFile(part)) };
}

function jsonBytes(value: unknown): number {
  return byteLength(JSON.stringify(value));
}

import type { State } from '../events/state.ts';
import type { ModelRequest } from '../interfaces/agent.ts';
import type { JsonObject } from '../values/json.ts';
import type { Message } from '../values/message.ts';
import type { Compaction } from './compaction.ts';
import { isFile, maxFileTokens } from './file-tokens.ts';
import type { Offload } from './offload.ts';

/** How a conversation is kept small enough. Each part works without the others. */
export interface ContextPolicy {
  /**
   * Make the conversation smaller when it weighs more tokens than this: what the provider counted in the last
   * request and an estimate of what came since. Default: four fifths of the model's window, if that is known.
   */
  readonly maxTokens?: number;
  /**
   * How it is made smaller, between turns. Once between two answers, also when the provider says that the
   * conversation no longer fits. Absent: never.
   */
  readonly compact?: Compaction;
  /** Where long tool output is put away. Absent: it stands in the conversation, up to 256 KiB. */
  readonly offload?: Offload;
}

/** What an answer's part may weigh more as input than it was counted as output: names, ids, brackets. */
const framingTokens = 32;

/**
 * The most tokens the next request can have as input: what the provider counted for the part it has seen,
 * and for the rest one token for every two bytes of JSON, which no tokenizer in use exceeds for ordinary text.
 * Pictures and documents count by what they show.
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
    bytes += byteLength(shown.length === 0 ? message : withoutFiles(message));
    for (const part of shown) media += maxFileTokens(part);
  }
  // What was counted in an earlier run may have been with other tools and instructions.
  if (seen === 0 || state.turns === 0) {
    bytes += byteLength(request.system ?? '');
    for (const tool of request.tools) bytes += byteLength(declaration(tool));
  }
  const answered = state.messages[seen - 1]?.content.length ?? 0;
  return state.contextTokens + answered * framingTokens + media + Math.ceil(bytes / 2);
}

function withoutFiles(message: Message): unknown {
  return { ...message, content: [...message.content].filter((part) => !isFile(part)) };
}

function declaration(tool: { name: string; description: string; parameters: JsonObject }): unknown {
  return [tool.name, tool.description, tool.parameters];
}

/** Bytes of a value as JSON in UTF-8. */
function byteLength(value: unknown): number {
  return encoder.encode(JSON.stringify(value)).length;
}

const encoder = new TextEncoder();

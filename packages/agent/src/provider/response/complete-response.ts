import type { ModelResponse, StopReason, ToolCall } from '../../interfaces/agent.ts';
import { ownResponse } from '../../interfaces/own-response.ts';
import type { AssistantPart } from '../../values/message.ts';
import { rememberAnswer } from '../../values/unicode.ts';
import type { Usage } from '../../values/usage.ts';
import { noUsage } from '../../values/usage.ts';
import type { ResponseBlock } from './block.ts';
import { partOf } from './block.ts';
import type { TokenCounts } from './usage-count.ts';

/** What a response contains besides its stream. */
export interface ResponseHead {
  /** The requested model, for a service that does not report which one responded. */
  readonly model: string;
  /** Number of requests sent until this response. */
  readonly attempts: number;
  /** Tokens of the failed ones. */
  readonly wasted: Usage;
  readonly requestId?: string | undefined;
  readonly rateLimits?: Readonly<Record<string, string>> | undefined;
}

/** Reasons not to run the calls of a response, by stop reason. Calls of a response that ended normally run. */
export const notReleased: Readonly<Record<StopReason, string | undefined>> = {
  tool_use: undefined,
  complete: undefined,
  max_tokens: 'The response reached its token limit before the call was complete. Make shorter calls.',
  refusal: 'The response ended before the call was complete: the model refused to continue.',
  pause: 'The response was paused before the call was complete.',
  context_full: 'The conversation became too long before the call was complete.',
  unknown: 'The response stopped for an unknown reason before the call was complete.',
};

/** Maximum number of output tokens of a response without content: services count marks that they do not send. */
const maxSilentTokens = 16;

interface ReadResponse {
  readonly head: ResponseHead;
  readonly model: string;
  readonly blocks: readonly ResponseBlock[];
  readonly usage: TokenCounts;
  readonly stopReason: StopReason;
  /** False if a log cannot store what the wire passed. */
  readonly isStorable: boolean;
}

/** Returns a response, frozen with everything in it. */
export function completeResponse(read: ReadResponse): ModelResponse {
  const { blocks, usage, stopReason, model } = read;
  const { attempts, wasted, requestId, rateLimits } = read.head;
  const problem = notReleased[stopReason];
  const parts: AssistantPart[] = [];
  const toolCalls: ToolCall[] = [];
  let content = '';
  for (const block of blocks) {
    const { text } = block;
    if (block.kind === 'text') {
      if (text !== '') parts.push(Object.freeze({ type: 'text', text }));
      content += text;
      continue;
    }
    let { call } = block;
    if (call !== undefined) {
      if (problem !== undefined && call.problem === undefined) call = Object.freeze({ ...call, problem });
      toolCalls.push(call);
    }
    const part = partOf(block, call);
    if (part !== undefined) parts.push(part);
  }
  const isStorable =
    read.isStorable &&
    usage.isStorable &&
    // What a failed attempt reported may be impossible to store.
    wasted === noUsage &&
    typeof model === 'string' &&
    Object.hasOwn(notReleased, stopReason);
  const message = { role: 'assistant' as const, content: isStorable ? rememberAnswer(parts) : parts };
  const response: { -readonly [Field in keyof ModelResponse]: ModelResponse[Field] } = {
    content,
    toolCalls: Object.freeze(toolCalls),
    usage: Object.freeze(usage.total()),
    stopReason,
    message: Object.freeze(message),
    model,
    attempts,
    wasted,
  };
  if (requestId !== undefined) response.requestId = requestId;
  if (rateLimits !== undefined) response.rateLimits = Object.freeze(rateLimits);
  Object.freeze(response);
  return isStorable ? ownResponse(response) : response;
}

/** Returns why a response without any content is not complete, unless the service ended its turn without a word. */
export function unreadable(
  blocks: readonly ResponseBlock[],
  { outputTokens, reasoningTokens = 0 }: Usage,
): string | undefined {
  if (blocks.some(({ kind, text }) => kind === 'call' || text !== '')) return undefined;
  // A service may end its turn without a word, which costs a few tokens.
  const announced = blocks.filter(({ mustClose }) => mustClose).length;
  return announced > 0 || outputTokens - reasoningTokens > maxSilentTokens
    ? `nothing in it can be read (blocks: ${announced}, output tokens: ${outputTokens})`
    : undefined;
}

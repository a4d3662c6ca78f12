import type { Agent, AssistantPart, ModelResponse } from '@cobbler/agent';
import { noUsage } from '@cobbler/agent';

/** Turns with tools before the last answer. */
export const turns = 6;

/**
 * A model whose answers follow from how far the conversation is: so that a request that is made again, wherever, gets
 * the same. Each turn calls a tool that must not run twice, every second one a harmless one besides.
 */
export function scriptedModel(answerMs: () => number): Agent {
  return {
    provider: 'scripted',
    model: 'scripted-model',
    capabilities: {
      images: false,
      documents: false,
      reasoning: false,
      parallelCalls: true,
      output: 'none',
      sampling: false,
      cacheUsage: false,
    },
    async run({ messages }, { signal } = {}) {
      const turn = messages.filter(({ role }) => role === 'assistant').length;
      await new Promise((resolve) => setTimeout(resolve, answerMs()));
      signal?.throwIfAborted();
      return turn < turns ? calling(turn) : answer([{ type: 'text', text: 'Done.' }], 'complete');
    },
  };
}

function calling(turn: number): ModelResponse {
  const parts: AssistantPart[] = [call(turn, 'book', turn)];
  if (turn % 2 === 1) parts.push(call(turn, 'look', turn));
  return answer([{ type: 'text', text: `Turn ${turn}.` }, ...parts], 'tool_use');
}

function call(turn: number, toolName: string, place: number): AssistantPart {
  return { type: 'tool_call', id: `${toolName}-${turn}`, toolName, arguments: { place } };
}

function answer(content: AssistantPart[], stopReason: ModelResponse['stopReason']): ModelResponse {
  return {
    content: content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join(''),
    toolCalls: content.filter((part) => part.type === 'tool_call'),
    usage: { inputTokens: 100, outputTokens: 20 },
    stopReason,
    message: { role: 'assistant', content },
    model: 'scripted-model',
    attempts: 1,
    wasted: noUsage,
  };
}

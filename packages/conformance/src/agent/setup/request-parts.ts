import type {
  AssistantMessage,
  AssistantPart,
  Message,
  Tool,
  ToolCallPart,
  ToolResultMessage,
  UserMessage,
} from '@cobbler/agent';
import { callsOf, userMessage } from '@cobbler/agent';

/** A tool that is only declared. */
export const lookUp: Tool = {
  name: 'look_up',
  description: 'Looks a word up.',
  parameters: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] },
  execute: () => '',
};

/** A second tool that is only declared. */
export const put: Tool = {
  name: 'put',
  description: 'Puts a value somewhere.',
  parameters: { type: 'object', properties: { value: {} } },
  execute: () => '',
};

/** Returns a user message. */
export function user(text: string): UserMessage {
  return userMessage(text);
}

/** Returns a message from the model; a string becomes a text part. */
export function assistant(...parts: readonly (string | AssistantPart)[]): AssistantMessage {
  return {
    role: 'assistant',
    content: parts.map((part) => (typeof part === 'string' ? { type: 'text', text: part } : part)),
  };
}

/** Returns a call part. */
export function call(id: string, toolName: string, args: Record<string, unknown> = {}): ToolCallPart {
  return { type: 'tool_call', id, toolName, arguments: args };
}

/** Returns a tool result message. */
export function result(
  toolCallId: string,
  text: string,
  rest: Partial<ToolResultMessage> = {},
): ToolResultMessage {
  return { role: 'tool_result', toolCallId, content: text === '' ? [] : [{ type: 'text', text }], ...rest };
}

/**
 * Returns a result for each call of a message, in order, as an executor appends them before the next request.
 */
export function resultsFor(message: AssistantMessage): ToolResultMessage[] {
  return callsOf(message).map((part, index) => result(part.id, `result ${index}`));
}

/** Returns the conversation after this response: the message, its results and a new user message. */
export function continueConversation(before: readonly Message[], message: AssistantMessage): Message[] {
  return [...before, message, ...resultsFor(message), user('Continue.')];
}

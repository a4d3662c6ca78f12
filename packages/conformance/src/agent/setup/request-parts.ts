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

/** A tool that only has to be declared. */
export const lookUp: Tool = {
  name: 'look_up',
  description: 'Looks a word up.',
  parameters: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] },
  execute: () => '',
};

/** A second one. */
export const put: Tool = {
  name: 'put',
  description: 'Puts a value somewhere.',
  parameters: { type: 'object', properties: { value: {} } },
  execute: () => '',
};

/** A user's message. */
export function user(text: string): UserMessage {
  return userMessage(text);
}

/** A model's message; a string is a text part. */
export function assistant(...parts: readonly (string | AssistantPart)[]): AssistantMessage {
  return {
    role: 'assistant',
    content: parts.map((part) => (typeof part === 'string' ? { type: 'text', text: part } : part)),
  };
}

/** A call in a model's message. */
export function call(id: string, toolName: string, args: Record<string, unknown> = {}): ToolCallPart {
  return { type: 'tool_call', id, toolName, arguments: args };
}

/** A tool's result. */
export function result(
  toolCallId: string,
  text: string,
  rest: Partial<ToolResultMessage> = {},
): ToolResultMessage {
  return { role: 'tool_result', toolCallId, content: text === '' ? [] : [{ type: 'text', text }], ...rest };
}

/** A result for each call of a message, in order: what an executor appends before it asks again. */
export function resultsFor(message: AssistantMessage): ToolResultMessage[] {
  return callsOf(message).map((part, index) => result(part.id, `result ${index}`));
}

/** The conversation after this answer: the message, its results, and a new say of the user. */
export function continued(before: readonly Message[], message: AssistantMessage): Message[] {
  return [...before, message, ...resultsFor(message), user('Go on.')];
}

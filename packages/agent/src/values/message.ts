import { withArgumentErrors } from './errors.ts';
import type {
  AssistantMessage,
  Message,
  TextPart,
  ToolCallPart,
  UserMessage,
  UserPart,
} from './stored-values.ts';

export type {
  AssistantMessage,
  AssistantPart,
  FilePart,
  Message,
  ProviderDataPart,
  ReasoningPart,
  Seal,
  Source,
  TextPart,
  ToolCallPart,
  ToolResultMessage,
  ToolResultPart,
  UserMessage,
  UserPart,
} from './stored-values.ts';

/** The sender of a message (requirement S0.17). */
export type Role = 'user' | 'assistant' | 'tool_result';

/** A flat message: only text, and ids that connect results to calls. */
export interface FlatMessage {
  role: Role;
  content: string;
  toolCallId?: string;
  toolCalls?: { id: string; toolName: string; arguments: Record<string, unknown> }[];
}

/** Creates a user message from plain text or parts. */
export function userMessage(content: string | readonly UserPart[]): UserMessage {
  return { role: 'user', content: typeof content === 'string' ? [{ type: 'text', text: content }] : content };
}

/** Returns the text parts of a message, joined without a separator. */
export function textOf(message: Message): string {
  return textIn(message.content);
}

/** Returns the text parts of a content, joined without a separator. */
export function textIn(content: readonly { readonly type: string; readonly text?: string }[]): string {
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

/** Returns the calls of a message in the order in which the model made them. */
export function callsOf(message: AssistantMessage): ToolCallPart[] {
  return message.content.filter((part) => part.type === 'tool_call');
}

/** Converts messages to the flat form, without files and reasoning. */
export function toFlat(messages: readonly Message[]): FlatMessage[] {
  return withArgumentErrors('toFlat', () =>
    messages.map((message) => {
      const flat: FlatMessage = { role: message.role, content: textOf(message) };
      if (message.role === 'tool_result') flat.toolCallId = message.toolCallId;
      if (message.role === 'assistant') {
        const calls = callsOf(message);
        if (calls.length > 0) {
          flat.toolCalls = calls.map((call) => ({
            id: call.id,
            toolName: call.toolName,
            arguments: call.arguments,
          }));
        }
      }
      return flat;
    }),
  );
}

/** Converts messages from the flat form. The inverse of {@link toFlat} for text, calls and results. */
export function fromFlat(flat: readonly FlatMessage[]): Message[] {
  return withArgumentErrors('fromFlat', () =>
    flat.map((message) => {
      const text: TextPart[] = message.content === '' ? [] : [{ type: 'text', text: message.content }];
      if (message.role === 'user') return { role: 'user', content: text };
      if (message.role === 'tool_result') {
        return { role: 'tool_result', toolCallId: message.toolCallId ?? '', content: text };
      }
      const calls = (message.toolCalls ?? []).map((call): ToolCallPart => ({ type: 'tool_call', ...call }));
      return { role: 'assistant', content: [...text, ...calls] };
    }),
  );
}

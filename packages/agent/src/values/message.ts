import type { Json } from './json.ts';

/** Who a message is from. The set is the one of seed requirement S0.17. */
export type Role = 'user' | 'assistant' | 'tool_result';

/** Text, never empty in a valid history. */
export interface TextPart {
  readonly type: 'text';
  readonly text: string;
}

/** A picture, base64 without a data-URL prefix. */
export interface ImagePart {
  readonly type: 'image';
  readonly mediaType: string;
  readonly data: string;
}

/** A document such as a PDF, base64 without a data-URL prefix. */
export interface DocumentPart {
  readonly type: 'document';
  readonly mediaType: string;
  readonly data: string;
  readonly name?: string;
}

/**
 * What a provider wants back byte for byte and nobody else can read, such as a signature.
 * It is sent only to the provider named here.
 */
export interface Seal {
  readonly provider: string;
  readonly data: Json;
}

/** The model's thinking. Text may be empty when the provider shows none and only the seal counts. */
export interface ReasoningPart {
  readonly type: 'reasoning';
  readonly text: string;
  readonly seal?: Seal;
}

/** Something of the provider's own that must stay in its place, though it has no neutral meaning. */
export interface ProviderDataPart {
  readonly type: 'opaque';
  readonly seal: Seal;
}

/** The model's request to run a tool. */
export interface ToolCallPart {
  readonly type: 'tool_call';
  /** The provider's id: it ties the result to the call on the wire and may repeat between turns. */
  readonly id: string;
  readonly toolName: string;
  readonly arguments: Record<string, unknown>;
  /** Why the arguments cannot be used. A call with a problem is never run. */
  readonly problem?: string;
  readonly seal?: Seal;
}

/** A piece of what the user says. */
export type UserPart = TextPart | ImagePart | DocumentPart;
/** A piece of what the model answers. */
export type AssistantPart = TextPart | ReasoningPart | ProviderDataPart | ToolCallPart;
/** A piece of what a tool gives back. */
export type ToolResultPart = TextPart | ImagePart | DocumentPart;

/** What the user said, or what stands in for it: steering, a summary. */
export interface UserMessage {
  readonly role: 'user';
  readonly content: readonly UserPart[];
}

/** One answer of the model, in the order in which it gave its pieces. */
export interface AssistantMessage {
  readonly role: 'assistant';
  readonly content: readonly AssistantPart[];
}

/** What came of one call. Each call of an answer has exactly one before the conversation goes on. */
export interface ToolResultMessage {
  readonly role: 'tool_result';
  readonly toolCallId: string;
  readonly content: readonly ToolResultPart[];
  readonly isError?: boolean;
  /** True when the call never ran: the answer was written only to keep the history valid. */
  readonly notRun?: boolean;
}

/**
 * One message of a conversation. Messages are immutable: providers cache what they made of one by its
 * identity, so a changed message must be a new object.
 */
export type Message = UserMessage | AssistantMessage | ToolResultMessage;

/** The seed's flat message: text only, and ids that tie results to calls. */
export interface FlatMessage {
  role: Role;
  content: string;
  toolCallId?: string;
  toolCalls?: { id: string; toolName: string; arguments: Record<string, unknown> }[];
}

/** A user message from plain text or parts. */
export function userMessage(content: string | readonly UserPart[]): UserMessage {
  return { role: 'user', content: typeof content === 'string' ? [{ type: 'text', text: content }] : content };
}

/** The text parts of a message, joined without a separator. */
export function textOf(message: Message): string {
  let text = '';
  for (const part of message.content) if (part.type === 'text') text += part.text;
  return text;
}

/** The calls of a message in the order the model made them. */
export function callsOf(message: AssistantMessage): ToolCallPart[] {
  return message.content.filter((part) => part.type === 'tool_call');
}

/** Projects messages to the seed's flat form. Pictures, documents and reasoning are left out. */
export function toFlat(messages: readonly Message[]): FlatMessage[] {
  return messages.map((message) => {
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
  });
}

/** Reads the seed's flat form. The inverse of {@link toFlat} for text, calls and results. */
export function fromFlat(flat: readonly FlatMessage[]): Message[] {
  return flat.map((message) => {
    const text: TextPart[] = message.content === '' ? [] : [{ type: 'text', text: message.content }];
    if (message.role === 'user') return { role: 'user', content: text };
    if (message.role === 'tool_result') {
      return { role: 'tool_result', toolCallId: message.toolCallId ?? '', content: text };
    }
    const calls = (message.toolCalls ?? []).map((call): ToolCallPart => ({ type: 'tool_call', ...call }));
    return { role: 'assistant', content: [...text, ...calls] };
  });
}

import type { Event } from '../events/event.ts';
import type { Message, ToolResultMessage } from '../values/message.ts';
import { textOf } from '../values/message.ts';

/** Returns the tool results in a conversation, in order. */
export function resultsOf(messages: readonly Message[]): ToolResultMessage[] {
  return messages.filter((message) => message.role === 'tool_result');
}

/** Returns the texts of the tool results in a conversation, in order. */
export function resultTexts(messages: readonly Message[]): string[] {
  return resultsOf(messages).map(textOf);
}

/** Returns one string per message: its role and its text. */
export function outline(messages: readonly Message[]): string[] {
  return messages.map((message) => `${message.role}: ${textOf(message)}`);
}

/** Returns the events of one type. */
export function ofType<Type extends Event['type']>(
  events: readonly { readonly type: string }[],
  type: Type,
): Extract<Event, { type: Type }>[] {
  return events.filter((event): event is Extract<Event, { type: Type }> => event.type === type);
}

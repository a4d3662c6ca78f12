import type { Message } from '@cobbler/agent';
import { userMessage } from '@cobbler/agent';
import type { ChatMessage } from '../storage/chat-message.ts';

/** Number of messages of a chat that the model sees. */
export const contextMessages = 20;

const leftOut: Message = userMessage([{ type: 'text', text: '(Earlier messages are omitted.)' }]);

/**
 * Converts messages of a chat, oldest first, to a conversation. Services require a user message first, so if the
 * oldest remaining message is the assistant's, a note precedes it.
 */
export function conversation(messages: readonly ChatMessage[]): readonly Message[] {
  const whole = messages.filter(({ content }) => content.trim() !== '').map(messageOf);
  return whole[0]?.role === 'assistant' ? [leftOut, ...whole] : whole;
}

function messageOf({ role, content }: ChatMessage): Message {
  const text = [{ type: 'text' as const, text: content }];
  return role === 'user' ? userMessage(text) : { role: 'assistant', content: text };
}

import type { Message } from '@cobbler/agent';
import { userMessage } from '@cobbler/agent';
import type { ChatMessage } from './chat-message.ts';

/** How many messages of a chat the model sees: seed requirement S3.11. */
export const contextMessages = 20;

const leftOut: Message = userMessage([{ type: 'text', text: '(Earlier messages are omitted.)' }]);

/**
 * Messages of a chat, oldest first, as a conversation. Services want a user to speak first, so where the oldest
 * message that is left is the assistant's, a line stands before it.
 */
export function conversation(messages: readonly ChatMessage[]): readonly Message[] {
  const whole = messages.filter(({ content }) => content.trim() !== '').map(messageOf);
  return whole[0]?.role === 'assistant' ? [leftOut, ...whole] : whole;
}

function messageOf({ role, content }: ChatMessage): Message {
  const text = [{ type: 'text' as const, text: content }];
  return role === 'user' ? userMessage(text) : { role: 'assistant', content: text };
}

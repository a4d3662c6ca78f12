import type { BotApi } from './bot-api.ts';
import type { FakeChats } from './chats.ts';
import type { PersonOrId } from './people.ts';
import { messageOf, personOf, userOf } from './people.ts';
import type { FakeUpdate, FakeUpdates } from './updates.ts';

/** Actions of users, each of which is an update for the bot. */
export interface FakeActions {
  /** A person writes, or replies to a message. Their chat is there from then on. */
  say(who: PersonOrId, text: string, replyTo?: number): FakeUpdate;
  /** A person changes what they wrote. */
  editSaid(who: PersonOrId, messageId: number, text: string): FakeUpdate;
  /** A person sends something else: `{ photo: [...] }`, `{ voice: {...} }`. */
  sayOther(who: PersonOrId, content: Readonly<Record<string, unknown>>): FakeUpdate;
  /** A person writes in a group. */
  sayInGroup(who: PersonOrId, groupId: number, text: string): FakeUpdate;
  /** A person presses a button under a message of the bot. */
  tap(who: PersonOrId, messageId: number, data: string): FakeUpdate;
  /** An update of one's own making; `kind` such as `message`. */
  push(kind: string, content: object): FakeUpdate;
}

export function actionsIn(chats: FakeChats, updates: FakeUpdates, api: BotApi, bot: object): FakeActions {
  return {
    say(who, text, replyTo) {
      const person = personOf(who);
      return updates.add('message', messageOf(chats.hear(person.id, text, replyTo), person, bot));
    },
    editSaid(who, messageId, text) {
      const message = { ...chats.draft(text), id: messageId };
      const { date } = message;
      return updates.add('edited_message', { ...messageOf(message, personOf(who), bot), edit_date: date });
    },
    sayOther(who, content) {
      const person = personOf(who);
      const { text: _, ...message } = messageOf(chats.hear(person.id, ''), person, bot);
      return updates.add('message', { ...message, ...content });
    },
    sayInGroup(who, groupId, text) {
      const message = messageOf(chats.draft(text), personOf(who), bot);
      const chat = { id: groupId, type: 'supergroup', title: 'A group' };
      return updates.add('message', { ...message, chat });
    },
    tap(who, messageId, data) {
      const person = personOf(who);
      const message = chats.messages(person.id).find(({ id }) => id === messageId);
      return updates.add('callback_query', {
        id: api.openTap(),
        from: userOf(person),
        chat_instance: '1',
        data,
        ...(message !== undefined && { message: messageOf(message, person, bot) }),
      });
    },
    push: (kind, content) => updates.add(kind, content),
  };
}

import { data, optional, text as readText, withArguments } from '@cobbler/agent/input';
import type { BotApi } from './bot-api.ts';
import type { FakeChats } from './chats.ts';
import type { PersonOrId } from './people.ts';
import { messageOf, personOf, readNumber, readPerson, userOf } from './people.ts';
import type { FakeUpdate, FakeUpdates } from './updates.ts';

/** Actions of users, each of which is an update for the bot. */
export interface FakeActions {
  /** Sends a message of a user, possibly as a reply. The user's chat exists after the first message. */
  say(who: PersonOrId, text: string, replyTo?: number): FakeUpdate;
  /** Edits a message of a user. */
  editSaid(who: PersonOrId, messageId: number, text: string): FakeUpdate;
  /** Sends other content of a user: `{ photo: [...] }`, `{ voice: {...} }`. */
  sayOther(who: PersonOrId, content: Readonly<Record<string, unknown>>): FakeUpdate;
  /** Sends a message of a user in a group. */
  sayInGroup(who: PersonOrId, groupId: number, text: string): FakeUpdate;
  /** Presses a button under a message of the bot. */
  tap(who: PersonOrId, messageId: number, data: string): FakeUpdate;
  /** Adds any update; `kind` is a type such as `message`. */
  push(kind: string, content: object): FakeUpdate;
}

export function actionsIn(chats: FakeChats, updates: FakeUpdates, api: BotApi, bot: object): FakeActions {
  const actions: FakeActions = {
    say(who, text, replyTo) {
      const person = personOf(who);
      return updates.add('message', messageOf(chats.addUserMessage(person.id, text, replyTo), person, bot));
    },
    editSaid(who, messageId, text) {
      const message = { ...chats.createMessage(text), id: messageId };
      const { date } = message;
      return updates.add('edited_message', { ...messageOf(message, personOf(who), bot), edit_date: date });
    },
    sayOther(who, content) {
      const person = personOf(who);
      const { text: _, ...message } = messageOf(chats.addUserMessage(person.id, ''), person, bot);
      return updates.add('message', { ...message, ...content });
    },
    sayInGroup(who, groupId, text) {
      const message = messageOf(chats.createMessage(text), personOf(who), bot);
      const chat = { id: groupId, type: 'supergroup', title: 'A group' };
      return updates.add('message', { ...message, chat });
    },
    tap(who, messageId, data) {
      const person = personOf(who);
      const message = chats.messages(person.id).find(({ id }) => id === messageId);
      return updates.add('callback_query', {
        id: api.openPress(),
        from: userOf(person),
        chat_instance: '1',
        data,
        ...(message !== undefined && { message: messageOf(message, person, bot) }),
      });
    },
    push: (kind, content) => updates.add(kind, content),
  };
  const who = readPerson;
  return withArguments(
    actions,
    {
      say: { who, text: readText, replyTo: optional(readNumber) },
      editSaid: { who, messageId: readNumber, text: readText },
      sayOther: { who, content: data },
      sayInGroup: { who, groupId: readNumber, text: readText },
      tap: { who, messageId: readNumber, data: readText },
      push: { kind: readText, content: data },
    },
    false,
  );
}

import type { Reader } from '@cobbler/agent/input';
import { flag, record, text, when } from '@cobbler/agent/input';
import { defined } from '@cobbler/agent/values';
import type { FakeMessage } from './chats.ts';

/** A user who writes to the bot. */
export interface FakePerson {
  readonly id: number;
  readonly name?: string;
  readonly username?: string;
  readonly language?: string;
  readonly isBot?: boolean;
}

/** A user, or only the numeric id. */
export type PersonOrId = number | FakePerson;

/** Reads a number of Telegram, such as an id. */
export const readNumber: Reader<number> = when((value) => Number.isSafeInteger(value), 'a whole number');

/** Reads a number of repetitions. */
export const readTimes: Reader<number> = when(
  (value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 10_000,
  'a whole number from 0 to 10,000',
);

const readUser = record<FakePerson>(
  { id: readNumber, name: text, username: text, language: text, isBot: flag },
  ['id'],
);

/** Reads a user. */
export const readPerson: Reader<PersonOrId> = (value) =>
  typeof value === 'object' ? readUser(value) : readNumber(value);

export function personOf(who: PersonOrId): FakePerson {
  return typeof who === 'number' ? { id: who } : who;
}

/** Returns a user as Telegram describes it. */
export function userOf({ id, name = 'Ada', username, language = 'en', isBot = false }: FakePerson): object {
  return {
    id,
    is_bot: isBot,
    first_name: name,
    ...defined({ username }),
    language_code: language,
  };
}

/** Returns a message of a private chat as Telegram describes it. */
export function messageOf(message: FakeMessage, person: FakePerson, bot: object): Record<string, unknown> {
  const { name = 'Ada' } = person;
  return {
    message_id: message.id,
    from: message.from === 'bot' ? bot : userOf(person),
    chat: { id: person.id, type: 'private', first_name: name },
    date: message.date,
    ...(message.file === undefined
      ? { text: message.text }
      : { document: { file_id: 'file', file_name: message.file.name, mime_type: message.file.type } }),
    ...(message.replyTo !== undefined && { reply_to_message: { message_id: message.replyTo } }),
    ...(message.entities.length > 0 && { entities: message.entities }),
    ...(message.buttons.length > 0 && {
      reply_markup: {
        inline_keyboard: message.buttons.map(({ label, data }) => [{ text: label, callback_data: data }]),
      },
    }),
  };
}

import { amount, callable, data, record as fieldsOf, read, text, when } from '@cobbler/agent/input';
import { defined } from '@cobbler/agent/values';
import type { IncomingOther, IncomingTap, IncomingText, ReadUpdate } from '../channel/incoming.ts';

/** Options of {@link readUpdate}: the allowed users and the maximum length of their messages. */
export interface ReadUpdateOptions {
  /** The numeric ids of the allowed users. User names are not accepted, because they can change owners. */
  readonly allowed: ReadonlySet<string> | ((userId: string) => boolean);
  /** The bot's own user name, with or without @. Commands may include it. */
  readonly botName?: string;
  /** Maximum length of a text in UTF-16 code units. Default 4096, the maximum of one Telegram message. */
  readonly maxText?: number;
}

const isSet = when<ReadonlySet<string>>((value) => value instanceof Set, 'a Set of ids, or a function');

const readOptions = fieldsOf<ReadUpdateOptions>(
  {
    allowed: (value, owner) => (typeof value === 'function' ? callable(value, owner) : isSet(value)),
    botName: text,
    maxText: amount,
  },
  ['allowed'],
);

type UpdateFields = Readonly<Record<string, unknown>>;
type UserUpdate = IncomingText | IncomingTap | IncomingOther;

/** Descriptions of ignored update types: those of other chats, and those without a new message. */
const ignoredKinds: Readonly<Record<string, string>> = {
  edited_message: 'an edited message',
  channel_post: 'a channel post',
  edited_channel_post: 'an edited channel post',
  my_chat_member: 'a membership change',
  chat_member: 'a membership change',
};

/** Names of unsupported content, for the reply to the user. */
const contents: Readonly<Record<string, string>> = {
  photo: 'images',
  live_photo: 'images',
  sticker: 'stickers',
  voice: 'voice messages',
  audio: 'audio files',
  video: 'videos',
  video_note: 'video messages',
  animation: 'animations',
  document: 'files',
  location: 'places',
  venue: 'places',
  contact: 'contacts',
  poll: 'polls',
  checklist: 'checklists',
  dice: 'dice',
  game: 'games',
  story: 'stories',
  paid_media: 'paid media',
};

/**
 * Converts a Telegram update for the assistant. Only allowed users are accepted, by id, and only in a private chat.
 * Any value that is not an update is ignored. The caption of an image does not count as a message: a reply that ignores the image would be
 * misleading.
 * @throws AgentError `invalid` for an invalid option.
 */
export function readUpdate(update: unknown, given: ReadUpdateOptions): ReadUpdate {
  const options = read(given, readOptions);
  const fields = plainFields(update);
  const id = idOf(fields?.['update_id']);
  if (fields === undefined || id === undefined) return { type: 'ignored', reason: 'not an update' };
  const ignored = (reason: string): ReadUpdate => ({ type: 'ignored', id, reason });
  const message = record(fields['message']);
  if (message !== undefined)
    return (
      readMessage(id, message, options) ??
      ignored(rejectionReason(message['from'], message['chat'], options) ?? 'a message without content')
    );
  const query = record(fields['callback_query']);
  if (query !== undefined)
    return readButtonPress(id, query, options) ?? ignored(noPressReason(query, options));
  const kind = Object.keys(fields).find((key) => key !== 'update_id') ?? 'nothing';
  return ignored(ignoredKinds[kind] ?? `an update of type ${kind.slice(0, 60)}`);
}

/** Returns the fields of an update; undefined for a value that is not plain data. */
function plainFields(update: unknown): UpdateFields | undefined {
  try {
    return record(read(update, data));
  } catch {
    return undefined;
  }
}

function readMessage(id: string, message: UpdateFields, options: ReadUpdateOptions): UserUpdate | undefined {
  const sender = senderOf(message['from'], message['chat'], options);
  if (sender === undefined) return undefined;
  const messageId = idOf(message['message_id']);
  const itself = messageId === undefined ? {} : { message: messageId };
  const arrival = { id, ...sender.ids, sentAt: milliseconds(message['date']), ...itself };
  const text = message['text'];
  if (typeof text !== 'string') {
    const answer = answerTo(message);
    return answer === undefined ? undefined : { type: 'other', ...arrival, answer };
  }
  const { maxText = 4096 } = options;
  if (text.length > maxText) return { type: 'other', ...arrival, answer: tooLong(maxText) };
  if (text.trim() === '') return undefined;
  const repliesTo = idOf(record(message['reply_to_message'])?.['message_id']);
  return {
    type: 'text',
    ...arrival,
    text: withoutBotName(text.toWellFormed(), options.botName),
    ...defined({ repliesTo, language: sender.language }),
  };
}

/** Reads a button press. It has no time, so the time of its message is used. */
function readButtonPress(
  id: string,
  query: UpdateFields,
  options: ReadUpdateOptions,
): UserUpdate | undefined {
  const message = record(query['message']);
  const { id: tapId, data } = query;
  const sender = senderOf(query['from'], message?.['chat'], options);
  if (sender === undefined || typeof data !== 'string' || typeof tapId !== 'string') return undefined;
  const messageId = idOf(message?.['message_id']);
  return {
    type: 'tap',
    id,
    ...sender.ids,
    sentAt: milliseconds(message?.['date']),
    data,
    tapId,
    ...defined({ message: messageId }),
  };
}

function noPressReason(query: UpdateFields, options: ReadUpdateOptions): string {
  return (
    rejectionReason(query['from'], record(query['message'])?.['chat'], options) ??
    'a button press without data'
  );
}

interface Sender {
  readonly ids: { readonly chatId: string; readonly userId: string };
  readonly language?: string;
}

function senderOf(from: unknown, chat: unknown, options: ReadUpdateOptions): Sender | undefined {
  if (rejectionReason(from, chat, options) !== undefined) return undefined;
  const userId = idOf(record(from)?.['id']);
  const chatId = idOf(record(chat)?.['id']);
  if (userId === undefined || chatId === undefined) return undefined;
  const language = record(from)?.['language_code'];
  const isTag = typeof language === 'string' && /^[a-z\d-]{2,35}$/i.test(language);
  return { ids: { chatId, userId }, ...(isTag && { language }) };
}

function rejectionReason(from: unknown, chat: unknown, { allowed }: ReadUpdateOptions): string | undefined {
  const sender = record(from);
  const userId = idOf(sender?.['id']);
  if (sender === undefined || userId === undefined) return 'no sender';
  if (sender['is_bot'] === true) return 'a bot';
  if (record(chat)?.['type'] !== 'private') return 'not a private chat';
  // In a private chat, both ids are those of the user.
  if (idOf(record(chat)?.['id']) !== userId) return "another user's chat";
  const known = typeof allowed === 'function' ? isAllowed(allowed, userId) : allowed.has(userId);
  return known ? undefined : 'not an allowed user';
}

/** Returns whether a user is allowed. If the function fails, no user is. */
function isAllowed(allowed: (userId: string) => boolean, userId: string): boolean {
  try {
    return allowed(userId) === true;
  } catch {
    return false;
  }
}

function answerTo(message: UpdateFields): string | undefined {
  // Every animation also has a document and every venue a location, so these two are checked first.
  const kind = ['animation', 'venue', ...Object.keys(contents)].find((name) => message[name] !== undefined);
  const words = kind === undefined ? undefined : contents[kind];
  if (words === undefined) return undefined;
  const caption = typeof message['caption'] === 'string' && message['caption'].trim() !== '';
  const advice = caption
    ? 'Please send the text as a separate message.'
    : 'Please send me a text message instead.';
  return `I cannot read ${words} yet. ${advice}`;
}

function tooLong(maxText: number): string {
  return `Your message is too long. Please send at most ${maxText} characters in one message.`;
}

function withoutBotName(text: string, botName: string | undefined): string {
  const name = botName?.replace(/^@/, '').toLowerCase();
  const command = /^\/(\w+)@(\w+)/.exec(text);
  if (command === null || name === undefined || command[2]?.toLowerCase() !== name) return text;
  return `/${command[1]}${text.slice(command[0].length)}`;
}

function milliseconds(seconds: unknown): number {
  return typeof seconds === 'number' && Number.isFinite(seconds) ? seconds * 1000 : 0;
}

function idOf(value: unknown): string | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : undefined;
}

function record(value: unknown): UpdateFields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as UpdateFields)
    : undefined;
}

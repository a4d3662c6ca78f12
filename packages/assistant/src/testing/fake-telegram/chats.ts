import type { Entity } from './entities.ts';
import { readHtml } from './entities.ts';
import { badRequest, Refused } from './refused.ts';

/** A file sent by the bot. */
export interface FakeFile {
  readonly name: string;
  readonly type: string;
  readonly text: string;
}

/** A message in a private chat. */
export interface FakeMessage {
  readonly id: number;
  readonly from: 'bot' | 'person';
  /** The visible text. */
  readonly text: string;
  readonly entities: readonly Entity[];
  readonly buttons: readonly { readonly label: string; readonly data: string }[];
  readonly file?: FakeFile;
  /** The id of the message that this one replies to. */
  readonly replyTo?: number;
  /** Number of edits. */
  readonly edits: number;
  /** Time in seconds since 1970. */
  readonly date: number;
}

export type Payload = Readonly<Record<string, unknown>>;

const maxMessageLength = 4096;

/** The private chats of a bot, with the methods that the Bot API offers for them. */
export class FakeChats {
  readonly #chats = new Map<number, FakeMessage[]>();
  readonly #blocked = new Set<number>();
  readonly #seconds: () => number;
  /** Id of the last message; all private chats of a bot share one counter, as in Telegram. */
  #lastId = 0;

  constructor(seconds: () => number) {
    this.#seconds = seconds;
  }

  /** Opens a chat after the first message of its user. */
  open(chatId: number): void {
    if (!this.#chats.has(chatId)) this.#chats.set(chatId, []);
  }

  delete(chatId: number): void {
    this.#chats.delete(chatId);
  }

  block(chatId: number, blocked: boolean): void {
    if (blocked) this.#blocked.add(chatId);
    else this.#blocked.delete(chatId);
  }

  messages(chatId: number): readonly FakeMessage[] {
    return this.#chats.get(chatId) ?? [];
  }

  /** Adds a user message and returns it. */
  addUserMessage(chatId: number, text: string, replyTo?: number): FakeMessage {
    this.open(chatId);
    const reply = replyTo === undefined ? {} : { replyTo };
    return this.#add(chatId, { from: 'person', text, entities: [], buttons: [], ...reply });
  }

  /** Creates a message outside private chats. */
  createMessage(text: string): FakeMessage {
    this.#lastId += 1;
    const content = { text, entities: [], buttons: [], edits: 0 };
    return { id: this.#lastId, from: 'person', ...content, date: this.#seconds() };
  }

  send(payload: Payload): FakeMessage {
    const chatId = this.#chatOf(payload);
    const { text, entities } = readText(payload);
    const reply = this.#replyOf(chatId, payload);
    return this.#add(chatId, { from: 'bot', text, entities, buttons: buttonsOf(payload), ...reply });
  }

  sendFile(payload: Payload): FakeMessage {
    const chatId = this.#chatOf(payload);
    const file = payload['document'];
    if (typeof file !== 'object' || file === null) throw badRequest('there is no document in the request');
    const { name, type, text } = file as FakeFile;
    if (text === '') throw badRequest('file must be non-empty');
    return this.#add(chatId, {
      from: 'bot',
      text: String(payload['caption'] ?? ''),
      entities: [],
      buttons: [],
      file: { name, type, text },
      ...this.#replyOf(chatId, payload),
    });
  }

  edit(payload: Payload): FakeMessage {
    const chatId = this.#chatOf(payload);
    const messages = this.#chats.get(chatId) ?? [];
    const index = messages.findIndex(({ id }) => id === Number(payload['message_id']));
    const before = messages[index];
    if (before === undefined) throw badRequest('message to edit not found');
    if (before.from !== 'bot') throw badRequest("message can't be edited");
    const { text, entities } = readText(payload);
    const after: FakeMessage = {
      ...before,
      text,
      entities,
      buttons: buttonsOf(payload),
      edits: before.edits + 1,
    };
    if (rendered(before) === rendered(after))
      throw badRequest(
        'message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message',
      );
    messages[index] = after;
    return after;
  }

  act(payload: Payload): void {
    this.#chatOf(payload);
    if (payload['action'] !== 'typing') throw badRequest('wrong parameter action in request');
  }

  /** Deletes a message, as its user can. */
  remove(chatId: number, messageId: number): void {
    const messages = this.#chats.get(chatId);
    const index = messages?.findIndex(({ id }) => id === messageId) ?? -1;
    if (index >= 0) messages?.splice(index, 1);
  }

  #chatOf({ chat_id: given }: Payload): number {
    if (given === undefined || given === '') throw badRequest('chat_id is empty');
    const chatId = Number(given);
    if (!this.#chats.has(chatId)) throw badRequest('chat not found');
    if (this.#blocked.has(chatId)) throw new Refused(403, 'Forbidden: bot was blocked by the user');
    return chatId;
  }

  /** Returns the message that a call replies to. A missing message is an error, unless the call allows it. */
  #replyOf(chatId: number, { reply_parameters: given }: Payload): Pick<FakeMessage, 'replyTo'> {
    if (given === undefined) return {};
    // A form contains it as JSON.
    const reply = typeof given === 'string' ? JSON.parse(given) : given;
    const { message_id: id, allow_sending_without_reply: without } = reply as Payload;
    if (this.messages(chatId).some((message) => message.id === id)) return { replyTo: Number(id) };
    if (without === true) return {};
    throw badRequest('message to be replied not found');
  }

  #add(chatId: number, content: Omit<FakeMessage, 'id' | 'edits' | 'date'>): FakeMessage {
    this.#lastId += 1;
    const message: FakeMessage = { id: this.#lastId, ...content, edits: 0, date: this.#seconds() };
    this.#chats.get(chatId)?.push(message);
    return message;
  }
}

function rendered({ text, entities, buttons }: FakeMessage): string {
  return JSON.stringify([text, entities, buttons]);
}

/** Whitespace, control characters, marks and invisible letters. A message of only these is empty. */
const unseen = /^[\s\p{C}\p{M}\u115f\u1160\u2800\u3164\uffa0]*$/u;

function readText({ text: given, parse_mode: mode }: Payload): { text: string; entities: readonly Entity[] } {
  if (typeof given !== 'string' || given === '') throw badRequest('message text is empty');
  if (!given.isWellFormed()) throw badRequest('strings must be encoded in UTF-8');
  if (mode !== undefined && mode !== '' && mode !== 'HTML') throw badRequest('unsupported parse_mode');
  const read = mode === 'HTML' ? readHtml(given) : { text: given, entities: [] };
  if (unseen.test(read.text)) throw badRequest('message text is empty');
  if (read.text.trim().length > maxMessageLength) throw badRequest('message is too long');
  return read;
}

function buttonsOf({ reply_markup: markup }: Payload): { label: string; data: string }[] {
  if (markup === undefined) return [];
  const rows = (markup as { inline_keyboard?: unknown }).inline_keyboard;
  if (!Array.isArray(rows)) throw badRequest("can't parse reply keyboard markup JSON object");
  return rows.flat().map((button: Record<string, unknown>) => {
    const { text: label, callback_data: data } = button;
    if (typeof label !== 'string' || label.trim() === '')
      throw badRequest('can\'t parse inline keyboard button: Field "text" must be of type String');
    if (typeof data !== 'string')
      throw badRequest(
        "can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard",
      );
    const bytes = new TextEncoder().encode(data).length;
    if (bytes < 1 || bytes > 64) throw badRequest('BUTTON_DATA_INVALID');
    return { label, data };
  });
}

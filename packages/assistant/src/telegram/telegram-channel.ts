import { AgentError } from '@cobbler/agent';
import { read, record } from '@cobbler/agent/input';
import type { Button, Channel, MessagePart } from '../channel/channel.ts';
import { withReadArguments } from '../channel/channel.ts';
import type { TelegramApi, TelegramApiOptions } from './api.ts';
import { apiReaders, readApi, telegramApi } from './api.ts';
import { maybeSentError } from './failure.ts';
import { piecesOf, withNote } from './pieces.ts';

/** Settings of a `telegramChannel` for the Bot API. */
export interface TelegramChannelOptions extends TelegramApiOptions {
  /** An existing API to use; the other API options are then ignored. */
  readonly api?: TelegramApi;
}

/** Maximum number of characters of a notice in response to a button press. */
const maxNoticeLength = 200;

const readOptions = record<TelegramChannelOptions>({ ...apiReaders, api: readApi });

/**
 * Creates a channel for private chats of Telegram, over its Bot API.
 * @throws AgentError `invalid` for an invalid option.
 */
export function telegramChannel(options: TelegramChannelOptions): Channel {
  const given = read(options, readOptions);
  const api = given.api ?? telegramApi(given);
  return withReadArguments({
    name: 'telegram',
    pieces: piecesOf,
    async send(chatId, piece, { signal, buttons = [], note, replyTo } = {}) {
      const rest = { ...linkPreview, ...keyboard(buttons), ...replying(replyTo) };
      const message = await withMarkupOrPlain(withNote(piece, note), (text, format) =>
        api.raw.sendMessage({ chat_id: chatId, text, ...format, ...rest }, signal),
      );
      return idOf(message, 'sendMessage');
    },
    async sendFile(chatId, { name, type, text }, { signal, note, replyTo } = {}) {
      if (text === '')
        throw new AgentError({ kind: 'invalid', code: 'empty_file', message: `${name} is empty.` });
      const document = new File([text], name, { type });
      const caption = note === undefined ? {} : { caption: note };
      const message = await api.raw.sendDocument(
        { chat_id: chatId, document, ...caption, ...replying(replyTo) },
        signal,
      );
      return idOf(message, 'sendDocument');
    },
    async edit(chatId, messageId, piece, { signal, buttons = [] } = {}) {
      const message_id = Number(messageId);
      const change = (text: string, format: object) =>
        api.raw.editMessageText(
          { chat_id: chatId, message_id, text, ...format, ...linkPreview, ...keyboard(buttons) },
          signal,
        );
      await withMarkupOrPlain(piece, change).catch(
        unless(/message is not modified|message to edit not found/i),
      );
    },
    async typing(chatId) {
      await api.raw.sendChatAction({ chat_id: chatId, action: 'typing' }).catch(() => {});
    },
    async heard(tapId, text) {
      const notice = text === undefined ? {} : { text: clip(text, maxNoticeLength) };
      await api.raw
        .answerCallbackQuery({ callback_query_id: tapId, ...notice })
        .catch(unless(/query is too old|query id is invalid/i));
    },
  });
}

function idOf(message: { readonly message_id?: unknown } | undefined, method: string): string {
  if (typeof message?.message_id !== 'number')
    throw maybeSentError(method, 'Telegram accepted the message but returned no id.', 'network');
  return String(message.message_id);
}

function replying(replyTo: string | undefined) {
  if (replyTo === undefined) return {};
  return { reply_parameters: { message_id: Number(replyTo), allow_sending_without_reply: true } };
}

/** Telegram would fetch the target of a link, so a model could leak data through the links it writes. */
const linkPreview = { link_preview_options: { is_disabled: true } } as const;

/** Sends markup, or plain text if Telegram rejects the markup. A rejected message was not sent, so this sends one. */
async function withMarkupOrPlain<Result>(
  part: MessagePart,
  call: (text: string, format: { parse_mode?: 'HTML' }) => Promise<Result>,
): Promise<Result> {
  if (part.markup === undefined) return await call(part.text, {});
  try {
    return await call(part.markup, { parse_mode: 'HTML' });
  } catch (error) {
    if (isRefusal(error, /can't parse entities/i)) return await call(part.text, {});
    throw error;
  }
}

function unless(expected: RegExp): (error: unknown) => void {
  return (error) => {
    if (!isRefusal(error, expected)) throw error;
  };
}

function isRefusal(error: unknown, description: RegExp): boolean {
  return AgentError.is(error) && error.status === 400 && description.test(error.message);
}

/** Returns a keyboard with one button per row, for narrow screens. */
function keyboard(buttons: readonly Button[]) {
  if (buttons.length === 0) return {};
  for (const { label, data } of buttons) {
    const bytes = new TextEncoder().encode(data).length;
    if (label.trim() === '' || bytes < 1 || bytes > 64)
      throw new AgentError({
        kind: 'invalid',
        code: 'button',
        message: `A button needs a label and 1 to 64 bytes of data; this one has the label ${JSON.stringify(label)} and ${bytes} bytes.`,
      });
  }
  const rows = buttons.map(({ label, data }) => [{ text: label, callback_data: data }]);
  return { reply_markup: { inline_keyboard: rows } };
}

function clip(text: string, length: number): string {
  const whole = text.toWellFormed();
  return whole.length <= length ? whole : `${whole.slice(0, length - 1)}…`.toWellFormed();
}

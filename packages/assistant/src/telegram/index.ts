/**
 * Telegram as a channel: sending messages, and receiving updates by polling or webhook.
 *
 * @module
 */

export { acceptUpdate, type UpdateDelivery, type UpdateResponse } from './accept-update.ts';
export { type TelegramApi, type TelegramApiOptions, type TelegramMethods, telegramApi } from './api.ts';
export { maxMessageLength, maxPartLength, piecesOf } from './pieces.ts';
export { type OffsetStore, type PollOptions, poll } from './poll.ts';
export { type ReadUpdateOptions, readUpdate } from './read-update.ts';
export { secretMatches, secretPattern } from './secret.ts';
export {
  deleteWebhook,
  getMe,
  setCommands,
  setWebhook,
  type WebhookOptions,
  wantedUpdates,
} from './setup.ts';
export { type TelegramChannelOptions, telegramChannel } from './telegram-channel.ts';

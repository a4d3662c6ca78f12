/**
 * Contracts of channels, stores and memories, and fakes of the services that they use.
 *
 * @module
 */

export type {
  ChannelFault,
  ChannelScene,
  ChannelSubject,
  SeenMessage,
} from './channel-contract/stand.ts';
export { channelContract } from './channel-contract.ts';
export { chatStoreContract } from './chat-store-contract.ts';
export type { FakeActions } from './fake-telegram/actions.ts';
export type { FakeCall } from './fake-telegram/bot-api.ts';
export type { FakeMessage } from './fake-telegram/chats.ts';
export type { FakeDelivery, Post, WebhookDeliveryOptions } from './fake-telegram/deliver.ts';
export { type Entity, type ReadText, readHtml } from './fake-telegram/entities.ts';
export type { FakeFault } from './fake-telegram/faults.ts';
export type { FakePerson, PersonOrId } from './fake-telegram/people.ts';
export { serveTelegram } from './fake-telegram/serve.ts';
export type { FakeUpdate, FakeWebhook } from './fake-telegram/updates.ts';
export { type FakeTelegram, type FakeTelegramOptions, fakeTelegram } from './fake-telegram.ts';
export { type FakeVectorize, type FakeVectorizeOptions, fakeVectorize } from './fake-vectorize.ts';
export { memoryContract } from './memory-contract.ts';
export { messageStoreContract } from './message-store-contract.ts';
export { outboxContract } from './outbox-contract.ts';
export type { ContractContext, PlaceSubject, StorageLocation } from './place.ts';

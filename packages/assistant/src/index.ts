/**
 * A chat assistant with memory: the processing of messages, and the interfaces to its environment.
 *
 * @module
 */

export { type Assistant, createAssistant } from './assistant.ts';
export {
  type AuditEntry,
  type AuditedCall,
  type AuditedModelCall,
  type AuditOptions,
  auditOf,
} from './audit.ts';
export type {
  Button,
  Channel,
  ChannelFile,
  ListeningChannel,
  MessagePart,
  SendOptions,
} from './channel/channel.ts';
export { maxNoteLength } from './channel/channel.ts';
export type { Incoming, IncomingOther, IncomingTap, IncomingText, ReadUpdate } from './channel/incoming.ts';
export { type MemoryChannel, type MemoryChannelOptions, memoryChannel } from './channel/memory-channel.ts';
export type { Embedder } from './memory/embedder.ts';
export { type EmbedderParts, embedderFrom } from './memory/embedder-from.ts';
export { type HttpEmbedderOptions, httpEmbedder } from './memory/http-embedder.ts';
export { lexicalEmbedder } from './memory/lexical-embedder.ts';
export type { Memory, MemoryIndex, Recall, Recalled } from './memory/memory-index.ts';
export {
  type Remembered,
  type RememberOptions,
  type RememberThreshold,
  remember,
} from './memory/remember.ts';
export type { ChatMessage, MessageStore } from './storage/chat-message.ts';
export {
  type Chat,
  type ChatStore,
  type RateLimit,
  sqlChats,
  type TurnPermission,
} from './storage/chat-store.ts';
export { type EventStore, type EventStoreOptions, sqlEvents } from './storage/event-store.ts';
export { sqlMessages } from './storage/message-store.ts';
export {
  type DeliverOptions,
  type Delivery,
  type KeptAnswer,
  type Outbox,
  type OutboxEntry,
  type OutboxOptions,
  type OutboxState,
  type SendAttempt,
  type SendPiece,
  sqlOutbox,
} from './storage/outbox.ts';
export { type Migration, migrations } from './storage/schema.ts';
export type { Sql, SqlAnswer, SqlRow, SqlStatement, SqlValue } from './storage/sql.ts';
export { commandList } from './turn/control.ts';
export type { AssistantOptions, RememberRule } from './turn/dependencies.ts';
export { contextMessages } from './turn/history.ts';
export { isTimeZone } from './turn/system-prompt.ts';

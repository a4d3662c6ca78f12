/**
 * A chat assistant with memory: what happens with one message, and the ports to what surrounds it.
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
export type { Button, Channel, ChannelFile, MessagePart, SendOptions } from './channel.ts';
export { maxNoteLength } from './channel.ts';
export type { ChatMessage, MessageStore } from './chat-message.ts';
export { type Chat, type ChatStore, type RateLimit, sqlChats, type TurnPermission } from './chat-store.ts';
export { commandList } from './control.ts';
export { type EventStore, type EventStoreOptions, sqlEvents } from './event-store.ts';
export { contextMessages } from './history.ts';
export type { Incoming, IncomingOther, IncomingTap, IncomingText, ReadUpdate } from './incoming.ts';
export type { AssistantOptions, RememberRule } from './kit.ts';
export type { Embedder } from './memory/embedder.ts';
export { type EmbedderParts, embedderFrom } from './memory/embedder-from.ts';
export { type HttpEmbedderOptions, httpEmbedder } from './memory/http-embedder.ts';
export { lexicalEmbedder } from './memory/lexical-embedder.ts';
export type { Memory, MemoryIndex, Recall, Recalled } from './memory/memory-index.ts';
export { type RecallOptions, recallFor } from './memory/recall.ts';
export {
  type Remembered,
  type RememberOptions,
  type RememberThreshold,
  remember,
} from './memory/remember.ts';
export { type MemoryChannel, type MemoryChannelOptions, memoryChannel } from './memory-channel.ts';
export { sqlMessages } from './message-store.ts';
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
} from './outbox.ts';
export { type Migration, migrations, migrationText } from './schema.ts';
export type { Sql, SqlAnswer, SqlRow, SqlStatement, SqlValue } from './sql.ts';
export { defaultPersona, isTimeZone, systemPrompt, zonedTime } from './system-prompt.ts';
export { turnSession } from './turn.ts';

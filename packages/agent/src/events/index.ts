/**
 * Event types, the state and the items computed from a log, and the text of approvals.
 *
 * @module
 */

export { currentParts } from '../values/file-part.ts';
export type { ReachedLimit } from '../values/stored-values.ts';
export { approvalText, argumentLines, type ShownCall } from './approval-text.ts';
export type {
  ApprovalDecidedEvent,
  ApprovalRequestedEvent,
  AskFailedEvent,
  AssistantEvent,
  BlobReference,
  CallPosition,
  CompactedEvent,
  EventBody,
  EventHead,
  FinishedEvent,
  HistoryEvent,
  NoticeEvent,
  ResumedEvent,
  RunEnd,
  RunHead,
  StopRequestedEvent,
  ToolResultEvent,
  ToolStartedEvent,
  UnstoredEnd,
  UnstoredEvent,
  UserEvent,
} from './event.ts';
export { type EventGroup, ignore } from './event-groups.ts';
export { fold } from './fold.ts';
export {
  type CallItem,
  type CallStatus,
  type ConversationItem,
  type ConversationItems,
  callStatus,
  emptyItems,
  foldItems,
  itemsOf,
  type NoteItem,
  pendingCalls,
  type ResponseItem,
  type StoredEvent,
  type UserItem,
} from './items.ts';
export { checkMore, type LimitQuestion, limitQuestion } from './limit-question.ts';
export {
  joinedResponse,
  type LiveBlock,
  type LiveResponse,
  noLiveResponse,
  type PendingRetry,
} from './live-response.ts';
export { type MessageIssue, type RepairedMessages, repairMessages } from './repair-messages.ts';
export { hasSearched, searchNotes } from './search-notes.ts';
export { addUsd, spendingOf } from './spending.ts';
export { type Approval, emptyState, type OpenCall, openRequests, type State } from './state.ts';
export { visibleText } from './visible-text.ts';

import type { ErrorData } from '../values/errors.ts';
import { argumentError, withArgumentErrors } from '../values/errors.ts';
import { currentParts } from '../values/file-part.ts';
import type {
  AssistantMessage,
  Message,
  ToolCallPart,
  ToolResultMessage,
  UserMessage,
} from '../values/message.ts';
import { callsOf } from '../values/message.ts';
import type { CallPosition, Event, RunEvent } from './event.ts';
import { isStored } from './event.ts';
import { ignore } from './event-groups.ts';
import { fold } from './fold.ts';
import type { LiveResponse } from './live-response.ts';
import { foldLive, noLiveResponse, settledResponse } from './live-response.ts';
import { spendingOf } from './spending.ts';
import type { State } from './state.ts';
import { emptyState, openLimit } from './state.ts';

/** A stored event of one type. */
export type StoredEvent<Type extends Event['type']> = Extract<Event, { readonly type: Type }>;

/** Data from the first event of an item. */
interface ItemHead {
  readonly seq: number;
  /** Time of the event, ISO 8601. */
  readonly time: string;
  readonly runId: string;
  /** True if it comes from an imported conversation. */
  readonly imported?: true;
}

/** A user message. */
export interface UserItem extends ItemHead {
  readonly kind: 'user';
  readonly message: UserMessage;
  /** True if it was sent during a run. */
  readonly steer: boolean;
}

/** A call of a response, with its outcome. */
export interface CallItem extends CallPosition {
  readonly part: ToolCallPart;
  /** Start time of its tool, ISO 8601. */
  readonly startedAt?: string;
  /** What it has done so far. */
  readonly steps?: readonly StoredEvent<'step'>[];
  /** The requests that its sub-agents sent, one event each. */
  readonly spendings?: readonly StoredEvent<'spent'>[];
  /** True if the process that ran it has ended, so that its outcome is unknown. */
  readonly orphaned?: boolean;
  readonly approval?: StoredEvent<'approval_requested'>;
  readonly decision?: StoredEvent<'approval_decided'> | undefined;
  /** The output of its tool, or the reason for its denial. */
  readonly report?: StoredEvent<'tool_result'>;
  /** The result for the model, once all calls of the response have results. */
  readonly result?: ToolResultMessage;
}

/** A response from the model, complete or truncated, and its calls. */
export interface ResponseItem extends ItemHead {
  readonly kind: 'response';
  /** Number of the response in the session, starting at 1; 0 if it was cut off or imported. */
  readonly turn: number;
  /** In the order in which the model produced them, calls included. */
  readonly parts: AssistantMessage['content'];
  /** Absent if the response is empty. */
  readonly message?: AssistantMessage;
  readonly calls: readonly CallItem[];
  /** Absent if it was cut off or imported. */
  readonly event?: StoredEvent<'assistant'>;
  /** The note to the model after a response that was cut off. */
  readonly cutNote?: UserMessage;
}

/** An event that is neither a message nor a response. */
export interface NoteItem extends ItemHead {
  readonly kind: 'note';
  readonly what:
    | { readonly type: 'failed'; readonly error: ErrorData }
    | {
        readonly type: 'compacted';
        readonly event: StoredEvent<'compacted'>;
        /** The messages that it added. */
        readonly messages: readonly Message[];
      }
    | { readonly type: 'stop'; readonly event: StoredEvent<'stop_requested'> }
    | { readonly type: 'notice'; readonly event: StoredEvent<'notice'>; readonly message: UserMessage }
    | { readonly type: 'resumed' }
    | { readonly type: 'finished'; readonly event: StoredEvent<'finished'> };
}

/** An item of a conversation, as a front end shows it. */
export type ConversationItem = UserItem | ResponseItem | NoteItem;

/** A session as front ends show it, computed from its events. Only {@link foldItems} changes it. */
export interface ConversationItems {
  /** The state that `fold` computes from the stored events. */
  readonly state: State;
  /** In the order of the conversation. A changed item is a new object, so that a view renders only what changed. */
  readonly items: ConversationItem[];
  /** Messages sent during the run that have no position in the conversation yet. */
  readonly queued: UserItem[];
  /** The events that cost something, including those without an item: see `spendingOf`. */
  readonly paid: Event[];
  /** Start of the active run, ISO 8601. */
  runStartedAt: string | undefined;
  /** The response that is streaming and the current activity of the run. No stored item depends on it. */
  live: LiveResponse;
}

/** Returns a conversation without items. */
export function emptyItems(): ConversationItems {
  return {
    state: emptyState(),
    items: [],
    queued: [],
    paid: [],
    runStartedAt: undefined,
    live: noLiveResponse,
  };
}

/** Returns the items of a session. */
export function itemsOf(events: Iterable<RunEvent>): ConversationItems {
  return withArgumentErrors('itemsOf', () => {
    const view = emptyItems();
    for (const event of events) foldItems(view, event);
    return view;
  });
}

/**
 * Adds one event. Messages, responses and results are those of `fold`; the event adds what only users need: times,
 * diffs and prices. An event that was added before is ignored. Never throws, for any sequence of events.
 */
export function foldItems(view: ConversationItems, event: RunEvent): void {
  try {
    if (!isStored(event)) {
      view.live = foldLive(view.live, event);
      return;
    }
    const { state } = view;
    const { messages, seq } = state;
    const [before, waiting] = [messages.length, state.steering.length];
    if (event.seq <= seq) return;
    fold(state, event);
    const steering = event.type === 'user' && event.steer === true;
    if (steering && (state.messages.length > before || state.steering.length > waiting)) queue(view, event);
    // A call has its report immediately, although the model receives the results of a batch together.
    noteCall(view, event);
    if (state.messages === messages) place(view, event, messages.slice(before));
    noteEvent(view, event, messages);
    view.live = settledResponse(view.live, event.type);
  } catch (thrown) {
    throw argumentError('foldItems', thrown);
  }
}

function headOf({ seq, time, runId, type }: Event): ItemHead {
  return { seq, time, runId, ...(type === 'history' && { imported: true }) };
}

/** Queues a steering message. The message object stays the same, so that it can be found when it gets its position. */
function queue({ state, queued }: ConversationItems, event: Event): void {
  const message = state.steering.at(-1) ?? state.messages.at(-1);
  if (message?.role === 'user') queued.push({ kind: 'user', ...headOf(event), message, steer: true });
}

/** Creates items for the messages that an event added to the conversation. */
function place(view: ConversationItems, event: Event, fresh: readonly Message[]): void {
  for (const [at, message] of fresh.entries()) {
    const isCutNote = event.type === 'ask_failed' && fresh[at - 1]?.role === 'assistant';
    if (message.role === 'user' && isCutNote) placeCutNote(view, message);
    else if (message.role === 'user') placeUser(view, event, message);
    else if (message.role === 'assistant') placeResponse(view, event, message);
    else placeResult(view, message);
  }
  if (event.type === 'assistant' && !fresh.some(({ role }) => role === 'assistant')) {
    placeResponse(view, event, { role: 'assistant', content: [] });
  }
}

function placeUser(view: ConversationItems, event: Event, message: UserMessage): void {
  const { items, queued } = view;
  if (event.type === 'notice') {
    items.push({ kind: 'note', ...headOf(event), what: { type: 'notice', event, message } });
    return;
  }
  const at = queued.findIndex((item) => item.message === message);
  const [steering] = at === -1 ? [] : queued.splice(at, 1);
  items.push(steering ?? { kind: 'user', ...headOf(event), message, steer: false });
}

function placeResponse({ state, items }: ConversationItems, event: Event, message: AssistantMessage): void {
  const isWhole = event.type === 'assistant';
  const turn = isWhole ? state.answers : 0;
  const parts = message.content;
  const calls = callsOf(message).map((part, index): CallItem => ({ turn, index, part }));
  const rest = { ...(isWhole && { event }), ...(parts.length > 0 && { message }) };
  items.push({ kind: 'response', ...headOf(event), turn, parts, calls, ...rest });
}

function placeCutNote(view: ConversationItems, cutNote: UserMessage): void {
  const at = latestResponse(view);
  const response = view.items[at];
  if (response?.kind === 'response') view.items[at] = { ...response, cutNote };
}

/** Adds a result to its call. Results arrive in the order of the calls of the latest response. */
function placeResult(view: ConversationItems, result: ToolResultMessage): void {
  const at = view.items.findLastIndex((item) => item.kind === 'response' && item.calls.length > 0);
  const response = view.items[at];
  if (response?.kind !== 'response') return;
  const call = response.calls.find((one) => one.result === undefined);
  if (call !== undefined) changeCall(view, at, call, { result });
}

function noteCall(view: ConversationItems, event: Event): void {
  switch (event.type) {
    case 'tool_started':
      return changeOpen(view, event, { startedAt: event.time });
    case 'tool_result':
      return changeOpen(view, event, { report: { ...event, content: currentParts(event.content) } });
    case 'approval_requested':
      return changeOpen(view, event, { approval: event, decision: undefined });
    case 'approval_decided':
      return noteDecision(view, event);
    case 'step':
      return addTo(view, event, 'steps');
    case 'spent':
      return addTo(view, event, 'spendings');
    case 'resumed':
      return noteOrphans(view);
    default:
      return ignore<'input' | 'response' | 'note' | 'end'>(event);
  }
}

/** Adds an event to the open call that it belongs to. Ids of calls can repeat, but not among the open calls. */
function addTo(
  view: ConversationItems,
  event: StoredEvent<'step'> | StoredEvent<'spent'>,
  list: 'steps' | 'spendings',
): void {
  const at = latestResponse(view);
  const response = view.items[at];
  if (response?.kind !== 'response' || event.callId === undefined) return;
  const call = response.calls.find(({ part, report }) => part.id === event.callId && report === undefined);
  if (call !== undefined) changeCall(view, at, call, { [list]: [...(call[list] ?? []), event] });
}

function changeOpen(
  view: ConversationItems,
  { turn, index }: CallPosition,
  changes: Partial<CallItem>,
): void {
  const at = latestResponse(view);
  const response = view.items[at];
  if (response?.kind !== 'response' || response.turn !== turn) return;
  const call = response.calls[index];
  if (call === undefined || call.result !== undefined || call.report !== undefined) return;
  changeCall(view, at, call, { ...('startedAt' in changes && { orphaned: false }), ...changes });
}

function noteDecision(view: ConversationItems, event: StoredEvent<'approval_decided'>): void {
  const at = latestResponse(view);
  const response = view.items[at];
  if (response?.kind !== 'response') return;
  const call = response.calls.find((one) => one.approval?.approvalId === event.approvalId);
  if (call !== undefined && call.decision === undefined) changeCall(view, at, call, { decision: event });
}

function noteOrphans(view: ConversationItems): void {
  const at = latestResponse(view);
  const response = view.items[at];
  if (response?.kind !== 'response') return;
  for (const call of response.calls) {
    const isOpen = call.startedAt !== undefined && call.report === undefined && call.result === undefined;
    if (isOpen) changeCall(view, at, call, { orphaned: true });
  }
}

function latestResponse({ items }: ConversationItems): number {
  return items.findLastIndex((item) => item.kind === 'response');
}

function changeCall(
  view: ConversationItems,
  at: number,
  { index }: CallItem,
  changes: Partial<CallItem>,
): void {
  const response = view.items[at];
  if (response?.kind !== 'response') return;
  const calls = response.calls.map((call) => (call.index === index ? { ...call, ...changes } : call));
  view.items[at] = { ...response, calls };
}

function noteEvent(view: ConversationItems, event: Event, before: readonly Message[]): void {
  const note = (what: NoteItem['what']) => void view.items.push({ kind: 'note', ...headOf(event), what });
  if (spendingOf(event) !== undefined) view.paid.push(event);
  if (event.type === 'finished') view.runStartedAt = undefined;
  else if (event.runId !== '' && (view.runStartedAt === undefined || startsRun(event)))
    view.runStartedAt = event.time;
  switch (event.type) {
    case 'ask_failed':
      return note({ type: 'failed', error: event.error });
    case 'approval_requested':
      // The question shows the failure.
      if (event.limit !== undefined && failureIn(view.items.at(-1)) !== undefined) view.items.pop();
      return;
    case 'compacted':
      return note({ type: 'compacted', event, messages: addedMessages(view.state.messages, before) });
    case 'stop_requested':
      return note({ type: 'stop', event });
    case 'resumed':
      return note({ type: 'resumed' });
    case 'finished':
      // The failure of the run is shown once, at its end.
      if (event.error !== undefined && failureIn(view.items.at(-1)) === event.error.message) view.items.pop();
      return note({ type: 'finished', event });
    case 'notice':
    case 'spent':
    case 'assistant':
      return;
    default:
      return ignore<'input' | 'call'>(event);
  }
}

function failureIn(item: ConversationItem | undefined): string | undefined {
  return item?.kind === 'note' && item.what.type === 'failed' ? item.what.error.message : undefined;
}

function startsRun(event: Event): boolean {
  return (event.type === 'user' && event.steer !== true) || event.type === 'resumed';
}

function addedMessages(messages: readonly Message[], before: readonly Message[]): Message[] {
  if (messages === before) return [];
  const known = new Set(before);
  return messages.filter((message) => !known.has(message));
}

/** The state of a call. */
export type CallStatus =
  | 'proposed'
  | 'asked'
  | 'running'
  | 'done'
  | 'failed'
  | 'denied'
  | 'not_run'
  | 'unknown';

/** Returns the state of a call. For users, a command that exits with an error has failed, though not for the model. */
export function callStatus(call: CallItem): CallStatus {
  return withArgumentErrors('callStatus', () => {
    const { approval, decision, report, result, startedAt, orphaned } = call;
    if (report?.denied === true || (decision?.decision === 'deny' && result?.isError === true))
      return 'denied';
    if (report !== undefined) {
      if (report.notRun === true) return 'not_run';
      return report.isError || /^exit [1-9]/.test(report.summary ?? '') ? 'failed' : 'done';
    }
    if (result !== undefined) return resultStatus(result, startedAt !== undefined);
    if (orphaned === true) return 'unknown';
    if (approval !== undefined && decision === undefined) return 'asked';
    return startedAt === undefined ? 'proposed' : 'running';
  });
}

/** Returns the state of a call whose tool has no event in this log. */
function resultStatus({ notRun, isError }: ToolResultMessage, isStarted: boolean): CallStatus {
  if (notRun === true) return 'not_run';
  if (isStarted) return 'unknown';
  return isError === true ? 'failed' : 'done';
}

/**
 * Returns the calls that wait for approval, in the order of the response. If a user must decide whether the run continues
 * beyond a limit, returns the question like a call, with `limit` in its approval.
 */
export function pendingCalls(view: ConversationItems): CallItem[] {
  return withArgumentErrors('pendingCalls', () => {
    const approval = openLimit(view.state);
    if (approval !== undefined) {
      const { turn, index, callId: id, toolName, arguments: given } = approval;
      const part = { type: 'tool_call', id, toolName, arguments: given } as const;
      return [{ turn, index, part, approval: approval as StoredEvent<'approval_requested'> }];
    }
    const response = view.items[latestResponse(view)];
    if (response?.kind !== 'response') return [];
    return response.calls.filter((call) => callStatus(call) === 'asked');
  });
}

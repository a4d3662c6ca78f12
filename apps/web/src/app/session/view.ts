import type {
  AssistantPart,
  ErrorData,
  Event,
  Message,
  ToolCallPart,
  ToolResultMessage,
  UserMessage,
} from '@cobbler/agent';
import type { State } from '@cobbler/agent/events';
import { emptyState, fold } from '@cobbler/agent/events';

/** A stored event of one type. */
export type Stored<Type extends Event['type']> = Extract<Event, { readonly type: Type }>;

/** A person said something. */
export interface UserItem {
  readonly kind: 'said';
  readonly seq: number;
  readonly time: string;
  readonly runId: string;
  readonly message: UserMessage;
  /** Sent during a run. */
  readonly steer: boolean;
}

/** A call of a response, with its outcome. */
export interface CallView {
  readonly turn: number;
  readonly index: number;
  readonly part: ToolCallPart;
  /** When it began to run, ISO 8601. */
  readonly startedAt?: string;
  /** The process that ran it has ended, so its outcome is unknown. */
  readonly orphaned?: boolean;
  readonly asked?: Stored<'approval_requested'>;
  readonly decided?: Stored<'approval_decided'>;
  /** The output of its tool, or the reason of its denial. */
  readonly report?: Stored<'tool_result'>;
  /** The result for the model, once all calls of the response have results. */
  readonly result?: ToolResultMessage;
}

/** The model answered. */
export interface AnswerItem {
  readonly kind: 'answer';
  readonly seq: number;
  readonly time: string;
  readonly runId: string;
  /** The how-manieth answer of the session it is; 0 for one of a conversation that began elsewhere. */
  readonly turn: number;
  /** In the order they came; calls stand for their parts. */
  readonly parts: readonly AssistantPart[];
  readonly message?: Message;
  readonly calls: readonly CallView[];
  /** The event; absent for one that ended too early, or of a conversation that began elsewhere. */
  readonly event?: Stored<'assistant'>;
  /** The notice to the model after a response that ended too early. */
  readonly cutNote?: UserMessage;
}

/** Something happened that is neither said nor answered. */
export interface NoteItem {
  readonly kind: 'note';
  readonly seq: number;
  readonly time: string;
  readonly runId: string;
  readonly what:
    | { readonly type: 'failed'; readonly error: ErrorData }
    | {
        readonly type: 'compacted';
        readonly event: Stored<'compacted'>;
        readonly messages: readonly Message[];
      }
    | { readonly type: 'stop'; readonly event: Stored<'stop_requested'> }
    | { readonly type: 'notice'; readonly event: Stored<'notice'>; readonly message: UserMessage }
    | { readonly type: 'resumed' }
    | { readonly type: 'finished'; readonly event: Stored<'finished'> };
}

/** The items of a conversation, in order. */
export type ConversationItem = UserItem | AnswerItem | NoteItem;

/** A session as people see it: what folding its events gives, and nothing else. Only {@link foldView} changes it. */
export interface ConversationView {
  /** The state of the conversation: the same fold as everywhere. */
  readonly state: State;
  /** A changed item is a new object, so that only what changed has to be drawn again. */
  readonly items: ConversationItem[];
  /** Messages sent during the run that wait for their position. */
  readonly queued: Event[];
  /** Requests that gave no answer: what they used counts, also where nothing is shown of them. */
  readonly failures: Stored<'ask_failed'>[];
  /** Start of the active run, ISO 8601. */
  runStartedAt: string | undefined;
}

/** A session in which nothing has happened. */
export function emptyView(): ConversationView {
  return { state: emptyState(), items: [], queued: [], failures: [], runStartedAt: undefined };
}

/** The view of a session, computed from its events. */
export function sessionView(events: readonly Event[]): ConversationView {
  const view = emptyView();
  for (const event of events) foldView(view, event);
  return view;
}

/**
 * Adds one event to what is shown. What was said, answered and given back is taken from the messages that the
 * fold makes of the log; the event adds what only eyes want: times, diffs, prices.
 */
export function foldView(view: ConversationView, event: Event): void {
  const { state } = view;
  const { messages, seq } = state;
  const [before, waiting] = [messages.length, state.steering.length];
  // A stream that begins again tells nothing twice.
  if (event.seq <= seq) return;
  fold(state, event);
  if (event.type === 'user' && event.steer === true && hasGrown(state, before, waiting))
    view.queued.push(event);
  // A call shows at once what its tool said, though the model gets the results of a batch together.
  noteCall(view, event);
  if (state.messages === messages) place(view, event, messages.slice(before));
  noteEvent(view, event, messages);
}

function hasGrown(state: State, messages: number, waiting: number): boolean {
  return state.messages.length > messages || state.steering.length > waiting;
}

/** Shows the messages that an event has brought into the conversation. */
function place(view: ConversationView, event: Event, fresh: readonly Message[]): void {
  for (const [at, message] of fresh.entries()) {
    const isCutNote = event.type === 'ask_failed' && fresh[at - 1]?.role === 'assistant';
    if (message.role === 'user' && isCutNote) placeCutNote(view, message);
    else if (message.role === 'user') placeSaid(view, event, message);
    else if (message.role === 'assistant') placeAnswer(view, event, message);
    else placeResult(view, message);
  }
  if (event.type === 'assistant' && !fresh.some(({ role }) => role === 'assistant')) {
    placeAnswer(view, event, { role: 'assistant', content: [] });
  }
}

function placeSaid(view: ConversationView, event: Event, message: UserMessage): void {
  if (event.type === 'notice') return placeNotice(view, event, message);
  const own = event.type === 'history' || (event.type === 'user' && event.steer !== true);
  const from = own ? event : (view.queued.shift() ?? event);
  const { seq, time, runId } = from;
  view.items.push({ kind: 'said', seq, time, runId, message, steer: !own });
}

function placeNotice({ items }: ConversationView, event: Stored<'notice'>, message: UserMessage): void {
  const { seq, time, runId } = event;
  items.push({ kind: 'note', seq, time, runId, what: { type: 'notice', event, message } });
}

function placeAnswer(
  { state, items }: ConversationView,
  event: Event,
  message: Message & { role: 'assistant' },
): void {
  const { seq, time, runId } = event;
  const isLive = event.type === 'assistant';
  const turn = isLive ? state.answers : 0;
  const parts = message.content;
  const calls = parts
    .filter((part) => part.type === 'tool_call')
    .map((part, index): CallView => ({ turn, index, part }));
  const rest = { ...(isLive && { event }), ...(parts.length > 0 && { message }) };
  items.push({ kind: 'answer', seq, time, runId, turn, parts, calls, ...rest });
}

function placeCutNote(view: ConversationView, cutNote: UserMessage): void {
  const at = latestAnswer(view);
  const answer = view.items[at];
  if (answer?.kind === 'answer') view.items[at] = { ...answer, cutNote };
}

/** Results come in the order of the calls of the latest answer. */
function placeResult(view: ConversationView, result: ToolResultMessage): void {
  const at = view.items.findLastIndex((item) => item.kind === 'answer' && item.calls.length > 0);
  const answer = view.items[at];
  if (answer?.kind !== 'answer') return;
  const call = answer.calls.find((one) => one.result === undefined);
  if (call !== undefined) changeCall(view, at, call, { result });
}

function noteCall(view: ConversationView, event: Event): void {
  switch (event.type) {
    case 'tool_started':
      return changeOpen(view, event, { startedAt: event.time });
    case 'tool_result':
      return changeOpen(view, event, { report: event });
    case 'approval_requested':
      return changeOpen(view, event, { asked: event });
    case 'approval_decided':
      return noteDecision(view, event);
    case 'resumed':
      return noteOrphans(view);
  }
}

function changeOpen(
  view: ConversationView,
  { turn, index }: { readonly turn: number; readonly index: number },
  changes: Partial<CallView>,
): void {
  const at = latestAnswer(view);
  const answer = view.items[at];
  if (answer?.kind !== 'answer' || answer.turn !== turn) return;
  const call = answer.calls[index];
  if (call === undefined || call.result !== undefined || call.report !== undefined) return;
  changeCall(view, at, call, { ...('startedAt' in changes && { orphaned: false }), ...changes });
}

function noteDecision(view: ConversationView, event: Stored<'approval_decided'>): void {
  const at = latestAnswer(view);
  const answer = view.items[at];
  if (answer?.kind !== 'answer') return;
  const call = answer.calls.find((one) => one.asked?.approvalId === event.approvalId);
  if (call !== undefined && call.decided === undefined) changeCall(view, at, call, { decided: event });
}

function noteOrphans(view: ConversationView): void {
  const at = latestAnswer(view);
  const answer = view.items[at];
  if (answer?.kind !== 'answer') return;
  for (const call of answer.calls) {
    const isOpen = call.startedAt !== undefined && call.report === undefined && call.result === undefined;
    if (isOpen) changeCall(view, at, call, { orphaned: true });
  }
}

function latestAnswer({ items }: ConversationView): number {
  return items.findLastIndex((item) => item.kind === 'answer');
}

function changeCall(
  view: ConversationView,
  at: number,
  { index }: CallView,
  changes: Partial<CallView>,
): void {
  const answer = view.items[at];
  if (answer?.kind !== 'answer') return;
  const calls = answer.calls.map((call) => (call.index === index ? { ...call, ...changes } : call));
  view.items[at] = { ...answer, calls };
}

function noteEvent(view: ConversationView, event: Event, before: readonly Message[]): void {
  const { seq, time, runId } = event;
  const note = (what: NoteItem['what']) => view.items.push({ kind: 'note', seq, time, runId, what });
  if (event.type === 'finished') view.runStartedAt = undefined;
  else if (event.runId !== '' && (view.runStartedAt === undefined || startsRun(event)))
    view.runStartedAt = time;
  switch (event.type) {
    case 'ask_failed':
      view.failures.push(event);
      return void note({ type: 'failed', error: event.error });
    case 'compacted':
      return void note({ type: 'compacted', event, messages: freshOf(view.state.messages, before) });
    case 'stop_requested':
      return void note({ type: 'stop', event });
    case 'resumed':
      return void note({ type: 'resumed' });
    case 'finished':
      // The run's failure is shown at its end, not twice.
      if (event.error !== undefined && failureIn(view.items.at(-1)) === event.error.message) view.items.pop();
      return void note({ type: 'finished', event });
  }
}

function failureIn(item: ConversationItem | undefined): string | undefined {
  return item?.kind === 'note' && item.what.type === 'failed' ? item.what.error.message : undefined;
}

function startsRun(event: Event): boolean {
  return (event.type === 'user' && event.steer !== true) || event.type === 'resumed';
}

/** The messages that compaction has added. */
function freshOf(messages: readonly Message[], before: readonly Message[]): Message[] {
  if (messages === before) return [];
  const known = new Set(before);
  return messages.filter((message) => !known.has(message));
}

/** The messages that the items stand for, in order, since the conversation was last made smaller. */
export function messagesOf(view: ConversationView): Message[] {
  const at = view.items.findLastIndex((item) => item.kind === 'note' && summarized(item.what).length > 0);
  const summary = view.items[at];
  const after = view.items.slice(at + 1).flatMap(messagesIn);
  if (summary?.kind !== 'note') return after;
  const kept = new Set(view.state.messages);
  const before = view.items.slice(0, at).flatMap(messagesIn);
  const [first, ...rest] = summarized(summary.what);
  return [
    ...(first === undefined ? [] : [first]),
    ...before.filter((one) => kept.has(one)),
    ...rest,
    ...after,
  ];
}

function summarized(what: NoteItem['what']): readonly Message[] {
  return what.type === 'compacted' ? what.messages : [];
}

function messagesIn(item: ConversationItem): Message[] {
  if (item.kind === 'said') return [item.message];
  if (item.kind === 'note')
    return item.what.type === 'notice' ? [item.what.message] : [...summarized(item.what)];
  if (item.message === undefined) return [];
  return [
    item.message,
    ...item.calls.flatMap(({ result }) => result ?? []),
    ...(item.cutNote ? [item.cutNote] : []),
  ];
}

/** Where a call stands. */
export type CallPhase =
  | 'proposed'
  | 'asked'
  | 'running'
  | 'done'
  | 'failed'
  | 'denied'
  | 'not_run'
  | 'unknown';

/** Where a call stands, by what is known of it. */
export function phaseOf({ asked, decided, report, result, startedAt, orphaned }: CallView): CallPhase {
  if (report?.denied === true || (decided?.decision === 'deny' && result?.isError === true)) return 'denied';
  if (report !== undefined) {
    if (report.notRun === true) return 'not_run';
    return report.isError || /^exit [1-9]/.test(report.summary ?? '') ? 'failed' : 'done';
  }
  if (result !== undefined) return outcomeIn(result, startedAt !== undefined);
  if (orphaned === true) return 'unknown';
  if (asked !== undefined && decided === undefined) return 'asked';
  return startedAt === undefined ? 'proposed' : 'running';
}

/** The outcome of a call whose tool does not appear in this log. */
function outcomeIn({ notRun, isError }: ToolResultMessage, started: boolean): CallPhase {
  if (notRun === true) return 'not_run';
  if (started) return 'unknown';
  return isError === true ? 'failed' : 'done';
}

/** The calls that wait for a person, in the order they were asked. */
export function pendingCalls(view: ConversationView): CallView[] {
  const answer = view.items[latestAnswer(view)];
  if (answer?.kind !== 'answer') return [];
  return answer.calls.filter((call) => phaseOf(call) === 'asked');
}

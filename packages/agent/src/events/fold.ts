import type { StopReason } from '../interfaces/agent.ts';
import { countAnswer, noMetrics } from '../interfaces/metrics.ts';
import { defined } from '../values/defined.ts';
import { argumentError } from '../values/errors.ts';
import { partsToPlace } from '../values/file-part.ts';
import type { AssistantMessage, Message, ToolResultMessage } from '../values/message.ts';
import { textOf, userMessage } from '../values/message.ts';
import { owned } from '../values/owned.ts';
import { wellFormedAnswer, wellFormedText } from '../values/unicode.ts';
import type {
  ApprovalDecidedEvent,
  ApprovalRequestedEvent,
  AskFailedEvent,
  AssistantEvent,
  CallPosition,
  CompactedEvent,
  Event,
  EventBody,
  NoticeEvent,
  RunHead,
  StopRequestedEvent,
  ToolResultEvent,
  ToolStartedEvent,
  UserEvent,
} from './event.ts';
import { ignore } from './event-groups.ts';
import { countRepeats, forgetRepeats } from './repeats.ts';
import { requestsOf } from './spending.ts';
import type { OpenCall, State } from './state.ts';
import { decideLimit, notRaised, openLimit, unanswered } from './state.ts';
import { unrunResult } from './unrun-result.ts';

/**
 * Applies an event to the state. Only this function writes messages. Invariants for any sequence of events:
 *
 * F1 it never throws and ignores events that do not fit;
 * F2 after a user message or the end of a run (other than `waiting`), every call has exactly one result;
 * F3 results directly follow their response, in the order of its calls, whatever order they arrive in;
 * F4 messages sent during a run are placed only where the role changes anyway;
 * F5 compaction never separates a call from its result;
 * F6 a placed message never changes, so caches can rely on it, and contains no empty text and no half of a surrogate
 * pair.
 */
export function fold(state: State, event: Event): void {
  try {
    state.seq = event.seq;
    state.time = event.time;
    if (event.user !== undefined) state.user = event.user;
    foldUnstored(state, event);
  } catch (thrown) {
    throw argumentError('fold', thrown);
  }
}

/** Applies an event that no store has accepted to a state that is not stored either. */
export function foldUnstored(state: State, event: Pick<RunHead, 'runId'> & EventBody): void {
  if (event.runId !== state.runId && event.type !== 'resumed') beginRun(state, event.runId);
  switch (event.type) {
    case 'history':
      return foldHistory(state, event.messages);
    case 'user':
      return foldUser(state, event);
    case 'assistant':
      return foldAssistant(state, event);
    case 'ask_failed':
      return foldAskFailed(state, event);
    case 'tool_started':
      return foldToolStarted(state, event);
    case 'tool_result':
      return foldToolResult(state, event);
    case 'approval_requested':
      return foldApprovalRequested(state, event);
    case 'approval_decided':
      return foldApprovalDecided(state, event);
    case 'compacted':
      return foldCompacted(state, event);
    case 'spent':
      return countRequests(state, event);
    case 'step':
      return;
    case 'stop_requested':
      return foldStop(state, event);
    case 'notice':
      return foldNotice(state, event);
    case 'resumed':
      return foldResumed(state, event.runId);
    case 'finished':
      state.finished = event;
      if (event.status === 'waiting') return;
      state.question = undefined;
      return closeCalls(state);
    default:
      return ignore<never>(event);
  }
}

function beginRun(state: State, runId: string): void {
  state.runId = runId;
  state.stopReason = undefined;
  state.turns = 0;
  state.toolCalls = 0;
  state.metrics = noMetrics;
  state.closing = undefined;
  state.question = undefined;
  state.raised = notRaised;
  reopen(state);
}

/** Clears the end of a run and the reason for it. */
function reopen(state: State): void {
  state.finished = undefined;
  state.failure = undefined;
  state.stop = undefined;
  state.compacted = false;
  forgetRepeats(state);
}

/** Keeps the usage of a resumed run. If the run had ended, clears the reason for its end. */
function foldResumed(state: State, runId: string): void {
  state.runId = runId;
  state.calls = state.calls.map(resumedCall);
  if (state.finished === undefined) return;
  // The error of a limit that was reached is the end of the run if the answer is to stop.
  if (openLimit(state) === undefined) reopen(state);
  else state.finished = undefined;
}

/** A call that had started may have done its work, so its approval is used up. One that only waited has done nothing. */
function resumedCall(call: OpenCall): OpenCall {
  const orphaned = call.started && call.result === undefined;
  // After the first resume, the approval is one that was asked for since.
  if (!orphaned || call.orphaned || call.waitUntil !== undefined) return { ...call, orphaned };
  const { approval: _, ...rest } = call;
  return { ...rest, orphaned };
}

function foldHistory(state: State, messages: readonly Message[]): void {
  for (const message of messages) {
    if (message.role === 'user') {
      closeCalls(state);
      const content = partsToPlace(message.content);
      if (content.length > 0) place(state, content === message.content ? message : { ...message, content });
    } else if (message.role === 'assistant') {
      closeCalls(state);
      placeAnswer(state, message.content);
    } else {
      const id = wellFormedText(message.toolCallId);
      const call = state.calls.find((open) => open.result === undefined && open.part.id === id);
      if (call !== undefined)
        answerCall(state, call, id === message.toolCallId ? message : { ...message, toolCallId: id });
    }
  }
  closeCalls(state);
  forgetRepeats(state);
}

/** Adds a message, which never changes from now on. */
function place(state: State, message: Message): void {
  state.messages.push(owned(message));
}

function foldUser(state: State, event: UserEvent): void {
  if (event.steer !== true) closeCalls(state);
  const content = partsToPlace(event.content);
  if (content.length === 0) return;
  const message = userMessage(content);
  if (event.steer === true) {
    state.steering.push(message);
    // Otherwise a request without this message may be running, so the message waits for the response.
    if (state.stopReason !== undefined && state.stopReason !== 'pause') placeSteering(state);
  } else {
    state.stopReason = undefined;
    place(state, message);
    forgetRepeats(state);
  }
}

function foldAssistant(state: State, event: AssistantEvent): void {
  // Messages sent in the meantime must not precede the response, which did not include them: only calls are closed.
  if (state.calls.length > 0) closeCalls(state);
  state.turns += 1;
  state.question = undefined;
  state.metrics = countAnswer(state.metrics, event);
  state.stopReason = event.stopReason;
  placeAnswer(state, event.content);
  state.contextTokens = event.usage.inputTokens + event.usage.outputTokens;
  state.contextMessages = state.messages.length;
  const { provider, model, usage } = event;
  const tokens = (usage.cacheReadTokens ?? 0) + (usage.cacheWriteTokens ?? 0);
  state.cached = tokens === 0 ? undefined : { provider, model, tokens, time: state.time };
  // If the conversation is still too long after it was shortened, shortening it again would not help.
  if (event.stopReason !== 'context_full') state.compacted = false;
  if (state.calls.length === 0) forgetRepeats(state);
  if (state.calls.length > 0) {
    if (event.stopReason !== 'tool_use') closeCutCalls(state, event.stopReason);
  } else if (event.stopReason !== 'pause') placeSteering(state);
}

/** Closes the calls of a response that did not stop for tools: they do not run. The stop reason still counts. */
function closeCutCalls(state: State, stopReason: StopReason): void {
  const steered = state.steering.length > 0;
  closeCalls(state, 'the answer ended before it was complete.');
  if (!steered) state.stopReason = stopReason;
}

function placeAnswer(state: State, given: AssistantEvent['content']): void {
  state.answers += 1;
  const content = wellFormedAnswer(given);
  if (content.length === 0) return;
  state.messages.push(owned({ role: 'assistant', content }));
  state.calls = [];
  for (const part of content) {
    // The model has read the results when it writes the rest of the same response.
    if (part.type === 'opaque' && part.searched !== undefined)
      state.untrusted ??= { toolName: 'web_search', turn: state.answers - 1 };
    if (part.type !== 'tool_call') continue;
    const index = state.calls.length;
    state.calls.push({ turn: state.answers, index, part, started: false, orphaned: false });
  }
}

function foldAskFailed(state: State, event: AskFailedEvent): void {
  state.failure = event.error;
  if (event.compacting === true) state.compacted = true;
  countRequests(state, event);
  if (event.partial !== undefined && event.compacting !== true) placePartial(state, event.partial);
}

/**
 * Places a response that ended early, and a note that explains it, because services reject a request that ends with
 * an assistant message. Only its text is placed: reasoning without its seal would be rejected too, and none of its
 * calls was complete.
 */
function placePartial(state: State, partial: AssistantEvent['content']): void {
  const content = wellFormedAnswer(partial).filter((part) => part.type === 'text' && part.text.trim() !== '');
  if (content.length === 0) return;
  if (state.calls.length > 0) closeCalls(state);
  place(state, { role: 'assistant', content });
  place(state, userMessage(partialNotes[state.stop ?? 'failed']));
}

/** The notes that the model sees after one of its responses ended early. */
const partialNotes = {
  cancelled: 'Your last answer ended here, before it was complete: the work was cancelled.',
  timeout: 'Your last answer ended here, before it was complete: the time limit was reached.',
  failed: 'Your last answer ended here, before it was complete: the connection to the model failed.',
} as const;

const partialNoteTexts: ReadonlySet<string> = new Set(Object.values(partialNotes));

/** Returns the last complete response. */
export function lastAnswer(messages: readonly Message[]): AssistantMessage | undefined {
  return messages.findLast((message, index): message is AssistantMessage => {
    const next = messages[index + 1];
    return message.role === 'assistant' && !(next?.role === 'user' && partialNoteTexts.has(textOf(next)));
  });
}

function countRequests(state: State, event: EventBody): void {
  const requests = requestsOf(event);
  if (requests !== undefined) state.metrics = countAnswer(state.metrics, requests);
}

function foldToolStarted(state: State, event: ToolStartedEvent): void {
  const at = placeOf(state, event);
  const call = state.calls[at];
  if (call === undefined || call.result !== undefined) return;
  if (!call.started) {
    state.toolCalls += 1;
    state.metrics = { ...state.metrics, toolCalls: state.metrics.toolCalls + 1 };
  }
  const { waitUntil } = event;
  const started = { ...call, started: true, orphaned: false };
  state.calls[at] = waitUntil === undefined ? started : { ...started, waitUntil };
}

function foldToolResult(state: State, event: ToolResultEvent): void {
  const call = state.calls[placeOf(state, event)];
  if (call === undefined || call.result !== undefined) return;
  state.metrics = { ...state.metrics, toolMs: state.metrics.toolMs + event.durationMs };
  if (event.untrusted === true) state.untrusted ??= { toolName: call.part.toolName, turn: call.turn };
  if (event.stopsBatch === true) {
    // Tools that run in parallel with this one have started, so their results still count.
    for (const other of unanswered(state)) {
      if (!other.started && other.index !== call.index) answerCall(state, other, unrunResult(state, other));
    }
  }
  answerCall(state, event.final === true ? { ...call, final: true } : call, {
    role: 'tool_result',
    toolCallId: call.part.id,
    content: event.content,
    ...(event.isError && { isError: true }),
    ...(event.notRun === true && { notRun: true }),
  });
}

function foldApprovalRequested(state: State, event: ApprovalRequestedEvent): void {
  if (event.limit !== undefined) {
    state.question = { request: event };
    return;
  }
  const at = placeOf(state, event);
  const call = state.calls[at];
  if (call !== undefined && call.result === undefined)
    state.calls[at] = { ...call, approval: { request: event } };
}

function foldApprovalDecided(state: State, event: ApprovalDecidedEvent): void {
  if (openLimit(state)?.approvalId === event.approvalId) return decideLimit(state, event);
  const call = state.calls.find((open) => open.approval?.request.approvalId === event.approvalId);
  if (call?.approval === undefined || call.approval.decision !== undefined) return;
  state.metrics = { ...state.metrics, waitedMs: state.metrics.waitedMs + event.waitedMs };
  const { decision, message } = event;
  const approval = { ...call.approval, decision, ...defined({ message }) };
  state.calls[placeOf(state, call)] = { ...call, approval };
}

function foldCompacted(state: State, event: CompactedEvent): void {
  state.compacted = true;
  countRequests(state, event);
  if (state.calls.length > 0) return;
  const upTo = safeCut(state.messages, event.upTo);
  if (upTo === 0) return;
  const summary = userMessage(wellFormedText(`${summaryHeading}${event.summary}`));
  state.messages = [owned(summary), ...state.messages.slice(upTo)];
  state.contextTokens = 0;
  state.contextMessages = 0;
  if (state.failure?.code === 'context_full') state.failure = undefined;
  if (state.stopReason !== 'context_full') return;
  // Services reject a request that ends with an assistant message.
  place(state, userMessage(cutOffText));
  state.stopReason = undefined;
}

/** The heading of a summary. */
export const summaryHeading = 'Summary of the conversation so far:\n\n';

const cutOffText =
  'Your last answer was cut off, because the conversation had become too long. Continue from where the answer ended.';

/**
 * Returns the largest index up to which messages can be replaced without keeping a result whose call is gone: the
 * kept part starts with a user message or a response.
 */
export function safeCut(messages: readonly Message[], wanted: number): number {
  // JSON has no infinity, so an index that is not finite replaces nothing, stored or not.
  let cut = Number.isFinite(wanted) ? Math.max(0, Math.min(Math.floor(wanted), messages.length)) : 0;
  while (cut > 0 && messages[cut]?.role === 'tool_result') cut -= 1;
  return cut;
}

function foldStop(state: State, event: StopRequestedEvent): void {
  if (event.reason === 'limit') {
    state.closing = event.limit ?? 'turns';
    closeCalls(state);
    state.stopReason = undefined;
  } else if (state.stop === undefined) {
    state.stop = event.reason;
  }
}

function foldNotice(state: State, event: NoticeEvent): void {
  const text = wellFormedText(event.text);
  if (state.calls.length > 0 || text === '') return;
  place(state, userMessage(text));
  // Only a run that asks before it ends at a limit continues after the response that the limit cut off.
  if (state.closing !== undefined) {
    state.closing = undefined;
    state.stopReason = undefined;
    return;
  }
  state.noticed = true;
}

/** Adds a result to every open call, so that the conversation can continue. */
function closeCalls(state: State, why?: string): void {
  for (const call of unanswered(state)) answerCall(state, call, unrunResult(state, call, why));
  placeSteering(state);
}

function answerCall(state: State, call: OpenCall, result: ToolResultMessage): void {
  let content = partsToPlace(result.content);
  if (content.length === 0) content = [{ type: 'text', text: '(no output)' }];
  const answered = { ...call, result: content === result.content ? result : { ...result, content } };
  state.calls[placeOf(state, call)] = answered;
  for (const other of state.calls) if (other.result === undefined) return;
  let isFinal = false;
  for (const other of state.calls) {
    if (other.result !== undefined) state.messages.push(owned(other.result));
    if (other.final === true) isFinal = true;
  }
  countRepeats(state);
  if (isFinal) state.stopReason = 'complete';
  else wantAnswer(state);
  state.calls = [];
  if (state.steering.length > 0) placeSteering(state);
}

function placeSteering(state: State): void {
  if (state.steering.length === 0 || state.calls.length > 0) return;
  forgetRepeats(state);
  for (const message of state.steering) place(state, message);
  state.steering = [];
  wantAnswer(state);
}

/** Requests a new response, unless the run is closing: nothing follows a closing response, also after a resume. */
function wantAnswer(state: State): void {
  if (state.closing === undefined) state.stopReason = undefined;
}

function placeOf({ calls }: State, { turn, index }: CallPosition): number {
  // The calls of a response are in order, so this is nearly always the place.
  const usual = calls[index];
  if (usual?.turn === turn && usual.index === index) return index;
  return calls.findIndex((call) => call.turn === turn && call.index === index);
}

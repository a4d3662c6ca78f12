import type { StopReason } from '../interfaces/agent.ts';
import type { LimitName } from '../interfaces/limits.ts';
import type { ExecutionMetrics } from '../interfaces/metrics.ts';
import { noMetrics } from '../interfaces/metrics.ts';
import type { RaisedLimits } from '../interfaces/reservation.ts';
import { defined } from '../values/defined.ts';
import type { ErrorData } from '../values/errors.ts';
import { withArgumentErrors } from '../values/errors.ts';
import { isObject, parsedJson } from '../values/json.ts';
import type { Message, ToolCallPart, ToolResultMessage, UserMessage } from '../values/message.ts';
import type { Batch } from './batch.ts';
import type { ApprovalDecidedEvent, ApprovalRequestedEvent, CallPosition, FinishedEvent } from './event.ts';

/** An approval request for a call, and the decision once it is made. */
export interface Approval {
  readonly request: ApprovalRequestedEvent;
  readonly decision?: 'allow' | 'deny' | 'expired' | 'superseded';
  readonly message?: string;
  readonly more?: number;
}

/** A call of the latest response. The calls of a response stay open together until each has its result. */
export interface OpenCall extends CallPosition {
  readonly part: ToolCallPart;
  readonly started: boolean;
  /** True if the process that started it is gone and left no result. */
  readonly orphaned: boolean;
  /** The time until which it waits before its tool runs, in milliseconds since 1970. */
  readonly waitUntil?: number;
  readonly approval?: Approval;
  readonly result?: ToolResultMessage;
  /** True if its result is the requested output. */
  readonly final?: boolean;
}

/**
 * The state of a session: exactly what its events fold to. Only `fold` changes it.
 *
 * Invariants: `messages` contains no call without its result, except those of `calls`, which belong to its last
 * message. A message in the list never changes.
 */
export interface State {
  /** Sequence number of the last folded event. */
  seq: number;
  /** Wall-clock time of the last folded event, ISO 8601. */
  time: string;
  /** The run that the last folded event belongs to. */
  runId: string;
  /** The user of the last run that had one. Runs without a user are for this one. */
  user: string | undefined;
  messages: Message[];
  calls: OpenCall[];
  /** Messages sent during the run that are not placed yet. */
  steering: UserMessage[];
  /** Number of responses in the whole session, which makes call positions unique. */
  answers: number;
  /** Stop reason of the latest response of this run; absent once a new response is needed. */
  stopReason: StopReason | undefined;
  /** Number of responses in this run. */
  turns: number;
  /** Number of tools started in this run. */
  toolCalls: number;
  metrics: ExecutionMetrics;
  stop: 'cancelled' | 'timeout' | undefined;
  /** The limit that was reached, after which only one closing response follows. */
  closing: LimitName | undefined;
  failure: ErrorData | undefined;
  /** The question whether the run continues beyond a limit; absent once a response followed. */
  question: Approval | undefined;
  /** What users allowed the run to spend beyond its own limits. */
  raised: RaisedLimits;
  /** True if the conversation was shortened, or could not be, since the latest response. */
  compacted: boolean;
  /** The first result with text that other people wrote: the tool that returned it, and its turn. */
  untrusted: { readonly toolName: string; readonly turn: number } | undefined;
  /** The latest turn whose calls all have results; absent after a new message. */
  batch: Batch | undefined;
  /** The end of that turn: its time in ISO 8601, and the time that the run had spent on the model until then. */
  batchEnd: { readonly time: string; readonly modelMs: number } | undefined;
  /** Number of times in a row that this turn was taken without waiting: same calls, same arguments, same results. */
  repeats: number;
  /** True if the model was notified that it repeats itself. */
  noticed: boolean;
  finished: FinishedEvent | undefined;
  /** Input and output tokens of the latest response: the size of the conversation up to it. */
  contextTokens: number;
  /** Number of messages that `contextTokens` covers. */
  contextMessages: number;
  /** What the latest response has read from the provider's cache or written to it; absent if nothing. */
  cached: CachedConversation | undefined;
}

/** The beginning of a conversation in the cache of a provider. */
export interface CachedConversation {
  readonly provider: string;
  readonly model: string;
  readonly tokens: number;
  /** Time of the response, ISO 8601. */
  readonly time: string;
}

/** The limits of a run as they were set. */
export const notRaised: RaisedLimits = Object.freeze({ usd: 0, tokens: 0 });

/** Returns the state of a session without events. */
export function emptyState(): State {
  return {
    seq: 0,
    time: '',
    runId: '',
    user: undefined,
    messages: [],
    calls: [],
    steering: [],
    answers: 0,
    stopReason: undefined,
    turns: 0,
    toolCalls: 0,
    metrics: noMetrics,
    stop: undefined,
    closing: undefined,
    failure: undefined,
    question: undefined,
    raised: notRaised,
    compacted: false,
    untrusted: undefined,
    batch: undefined,
    batchEnd: undefined,
    repeats: 0,
    noticed: false,
    finished: undefined,
    contextTokens: 0,
    contextMessages: 0,
    cached: undefined,
  };
}

/** Copies a state, so that folding further events changes only the copy. Messages are shared, because they never change. */
export function copyState(state: State): State {
  return { ...state, messages: [...state.messages], calls: [...state.calls], steering: [...state.steering] };
}

/** Returns the calls that have no result yet, in the order of the response. */
export function unanswered(state: State): OpenCall[] {
  const open: OpenCall[] = [];
  for (const call of state.calls) if (call.result === undefined) open.push(call);
  return open;
}

/** Returns the time at which the run's wait ends, in milliseconds since 1970; undefined if the run has something to do. */
export function waitingUntil(state: State): number | undefined {
  if (state.stop !== undefined || state.steering.length > 0) return undefined;
  return unanswered(state).find((call) => call.started)?.waitUntil;
}

/** Returns the calls that wait for a user's decision. */
export function undecided(state: State): OpenCall[] {
  const open: OpenCall[] = [];
  for (const call of state.calls)
    if (call.result === undefined && call.approval !== undefined && call.approval.decision === undefined)
      open.push(call);
  return open;
}

/** Returns the approvals that a user must decide. */
export function openRequests(state: State): ApprovalRequestedEvent[] {
  return withArgumentErrors('openRequests', () => {
    const asked = undecided(state).flatMap(({ approval }) => approval?.request ?? []);
    const limit = openLimit(state);
    return limit === undefined ? asked : [...asked, limit];
  });
}

/** Returns the open question about a limit that was reached. */
export function openLimit({ question }: State): ApprovalRequestedEvent | undefined {
  return question?.decision === undefined ? question?.request : undefined;
}

/** Applies the decision about the open question about a limit; only for `fold`. */
export function decideLimit(state: State, { decision, message, more, waitedMs }: ApprovalDecidedEvent): void {
  const request = openLimit(state);
  if (request?.limit === undefined) return;
  state.metrics = { ...state.metrics, waitedMs: state.metrics.waitedMs + waitedMs };
  state.question = { request, decision, ...defined({ message, more }) };
  if (decision !== 'allow') return;
  state.failure = undefined;
  state.compacted = false;
  const { amount, budget } = request.limit;
  if (budget !== undefined || amount === 'requests') return;
  const raised = state.raised[amount] + (more ?? request.limit.more);
  state.raised = { ...state.raised, [amount]: raised };
}

/**
 * Version of the states that `fold` computes. A snapshot with a different version is not used; its events are folded
 * again. Increase it whenever a log folds to a different state than before. A test detects when that happens.
 */
export const foldVersion = 7;

/** Returns a state as text without its messages, which are stored separately because they never change. */
export function snapshotText(state: State): string {
  return JSON.stringify({ ...state, messages: undefined });
}

/** Returns the state of a snapshot, or undefined if the text is not a snapshot. */
export function snapshotState(text: string, messages: Message[]): State | undefined {
  const fields = parsedJson(text);
  if (!isObject(fields) || !Number.isInteger(fields['seq']) || !Array.isArray(fields['calls']))
    return undefined;
  return { ...emptyState(), ...fields, messages };
}

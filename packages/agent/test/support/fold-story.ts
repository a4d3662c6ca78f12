import fc from 'fast-check';
import type { Event, EventBody, RunStatus } from '../../src/events/event.ts';
import { fold } from '../../src/events/fold.ts';
import type { State } from '../../src/events/state.ts';
import { emptyState } from '../../src/events/state.ts';
import type { StopReason } from '../../src/interfaces/agent.ts';
import { noMetrics } from '../../src/interfaces/metrics.ts';
import type { AssistantPart, Message, UserPart } from '../../src/values/message.ts';
import { noUsage } from '../../src/values/usage.ts';

/** Adds the fields that every event has. */
export function place(body: EventBody, seq: number, runId = 'run-1'): Event {
  return { v: 1, seq, id: `s-${seq}`, time: '2026-01-01T00:00:00.000Z', runId, ...body };
}

/** Returns the state of a session after the events of one run. */
export function told(...bodies: EventBody[]): State {
  const state = emptyState();
  for (const [index, body] of bodies.entries()) fold(state, place(body, index + 1));
  return state;
}

/** Creates an event with a response. */
export function answered(
  content: readonly AssistantPart[],
  rest: Partial<Extract<EventBody, { type: 'assistant' }>> = {},
): EventBody {
  return {
    type: 'assistant',
    content,
    usage: { inputTokens: 10, outputTokens: 5 },
    stopReason: content.some((part) => part.type === 'tool_call') ? 'tool_use' : 'complete',
    provider: 'p',
    model: 'm',
    attempts: 1,
    wasted: noUsage,
    durationMs: 1,
    ...rest,
  };
}

export function said(text: string, steer = false): EventBody {
  return { type: 'user', content: [{ type: 'text', text }], ...(steer && { steer: true }) };
}

export function callPart(id: string, toolName = 'tool'): AssistantPart {
  return { type: 'tool_call', id, toolName, arguments: {} };
}

export function started(turn: number, index: number): EventBody {
  return { type: 'tool_started', turn, index, callId: 'x', toolName: 'tool', arguments: {} };
}

export function result(
  turn: number,
  index: number,
  rest: Partial<Extract<EventBody, { type: 'tool_result' }>> = {},
): EventBody {
  return {
    type: 'tool_result',
    turn,
    index,
    callId: 'x',
    toolName: 'tool',
    content: [{ type: 'text', text: `result ${turn}.${index}` }],
    isError: false,
    durationMs: 2,
    ...rest,
  };
}

export function finished(status: RunStatus): EventBody {
  return { type: 'finished', status, metrics: noMetrics };
}

const text = fc.oneof(
  fc.string({ maxLength: 6 }),
  fc.constantFrom('', 'ok', 'half \ud83d', '\udc00', 'a\\ud800', '🧵'),
);
const number = fc.oneof(fc.nat(5), fc.constantFrom(-1, 99, Number.NaN, Number.POSITIVE_INFINITY, 1.5));
const userPart: fc.Arbitrary<UserPart> = fc.oneof(
  { weight: 4, arbitrary: text.map((value): UserPart => ({ type: 'text', text: value })) },
  {
    weight: 1,
    arbitrary: fc.constant<UserPart>({ type: 'file', mediaType: 'image/png', data: 'AA==' }),
  },
);
const args = fc.oneof(
  fc.constant({}),
  fc.record({ path: text }),
  fc.record({ deep: fc.array(fc.record({ word: text })) }),
  fc.constant(undefined as unknown as Record<string, unknown>),
  fc.constant([1] as unknown as Record<string, unknown>),
);
const call: fc.Arbitrary<AssistantPart> = fc
  .tuple(fc.constantFrom('a', 'b', 'c', '', 'd\ud800'), args, fc.option(text, { nil: undefined }))
  .map(([id, value, problem]) => ({
    type: 'tool_call',
    id,
    toolName: 'tool',
    arguments: value,
    ...(problem !== undefined && { problem }),
  }));
const answerPart: fc.Arbitrary<AssistantPart> = fc.oneof(
  text.map((value): AssistantPart => ({ type: 'text', text: value })),
  text.map((value): AssistantPart => ({ type: 'reasoning', text: value })),
  fc.constant<AssistantPart>({ type: 'opaque', seal: { provider: 'p', data: 'sealed' } }),
  call,
);
const userContent = fc.array(userPart, { maxLength: 3 });
const answerContent = fc.array(answerPart, { maxLength: 4 });
const stopReason = fc.constantFrom<StopReason>(
  'tool_use',
  'tool_use',
  'tool_use',
  'complete',
  'max_tokens',
  'refusal',
  'pause',
  'context_full',
  'unknown',
);
/** Any message, valid or not. */
export const message: fc.Arbitrary<Message> = fc.oneof(
  userContent.map((content): Message => ({ role: 'user', content })),
  answerContent.map((content): Message => ({ role: 'assistant', content })),
  fc
    .tuple(fc.constantFrom('a', 'b', 'c', 'z', '', 'd\ud800'), userContent)
    .map(([toolCallId, content]): Message => ({ role: 'tool_result', toolCallId, content })),
);
const status = fc.constantFrom<RunStatus>('complete', 'waiting', 'failed', 'cancelled', 'limit', 'timeout');
const approvalId = fc.constantFrom('approval-1', 'approval-2', 'approval-3');

/** Any event at any time, valid or not. */
const anyBody: fc.Arbitrary<EventBody> = fc.oneof(
  fc
    .tuple(userContent, fc.boolean())
    .map(([content, steer]): EventBody => ({ type: 'user', content, steer })),
  fc.array(message, { maxLength: 8 }).map((messages): EventBody => ({ type: 'history', messages })),
  fc.tuple(answerContent, stopReason).map(([content, reason]) => answered(content, { stopReason: reason })),
  fc.tuple(fc.option(answerContent, { nil: undefined }), fc.boolean()).map(
    ([partial, compacting]): EventBody => ({
      type: 'ask_failed',
      error: { kind: 'network', message: 'cut', attempts: 2, wasted: noUsage },
      durationMs: 3,
      ...(partial !== undefined && { partial, ...(compacting && { compacting }) }),
    }),
  ),
  fc.tuple(number, number).map(([turn, index]) => started(turn, index)),
  fc
    .tuple(number, number, userContent, fc.boolean(), fc.boolean(), fc.boolean())
    .map(([turn, index, content, isError, stopsBatch, final]) =>
      result(turn, index, { content, isError, stopsBatch, final }),
    ),
  fc.tuple(number, number, approvalId).map(
    ([turn, index, id]): EventBody => ({
      type: 'approval_requested',
      turn,
      index,
      approvalId: id,
      callId: 'x',
      toolName: 'tool',
      arguments: {},
      hash: 'h',
    }),
  ),
  fc
    .tuple(approvalId, fc.constantFrom('allow', 'deny', 'expired', 'superseded'))
    .map(
      ([id, decision]): EventBody => ({ type: 'approval_decided', approvalId: id, decision, waitedMs: 4 }),
    ),
  fc.tuple(number, text).map(([upTo, summary]): EventBody => ({ type: 'compacted', upTo, summary })),
  fc
    .constantFrom('cancelled', 'timeout', 'limit')
    .map((reason): EventBody => ({ type: 'stop_requested', reason })),
  text.map((words): EventBody => ({ type: 'notice', code: 'no_progress', text: words })),
  fc.constant<EventBody>({ type: 'resumed' }),
  status.map(finished),
);

/** One step of a story: an event that fits the state if possible, so that stories progress. */
export type StoryStep = (state: State) => EventBody;

const fitting: fc.Arbitrary<StoryStep> = fc.oneof(
  fc.nat().map(
    (choice): StoryStep =>
      (state) =>
        started(...placeOf(state, choice)),
  ),
  fc.tuple(fc.nat(), fc.boolean(), fc.boolean()).map(
    ([choice, isError, stopsBatch]): StoryStep =>
      (state) =>
        result(...placeOf(state, choice), { isError, stopsBatch: isError && stopsBatch }),
  ),
  fc.nat().map(
    (choice): StoryStep =>
      (state) => ({ type: 'compacted', upTo: choice % (state.messages.length + 1), summary: 'So far.' }),
  ),
  text.map(
    (value): StoryStep =>
      () =>
        said(value || 'steer', true),
  ),
  fc.array(call, { minLength: 1, maxLength: 4 }).map(
    (content): StoryStep =>
      () =>
        answered(content),
  ),
);

function placeOf(state: State, choice: number): [number, number] {
  const open = state.calls[choice % Math.max(1, state.calls.length)];
  return [open?.turn ?? 1, open?.index ?? 0];
}

/** The story of a session: its steps, each with the id of its run. */
export const story: fc.Arbitrary<(readonly [string, StoryStep])[]> = fc.array(
  fc.tuple(
    fc.constantFrom('run-1', 'run-1', 'run-1', 'run-1', 'run-2'),
    fc.oneof({ weight: 3, arbitrary: fitting }, { weight: 2, arbitrary: anyBody.map((body) => () => body) }),
  ),
  { maxLength: 40 },
);

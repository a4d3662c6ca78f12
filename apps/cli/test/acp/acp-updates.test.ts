import type { AssistantMessage, Event, RunEvent, Tool } from '@cobbler/agent';
import type { EventBody } from '@cobbler/agent/events';
import { expect, test } from 'vitest';
import type { UpdateView } from '../../src/acp/session-updates.ts';
import { SessionUpdates } from '../../src/acp/session-updates.ts';
import { seenOf } from './acp-editor.ts';

const tool: Tool = {
  name: 'read_file',
  description: '',
  parameters: { type: 'object' },
  execute: () => '',
  subject: ({ path }) => String(path),
};
const view: UpdateView = { folder: '/project', tools: [tool], contextTokens: 1000 };
const usage = { inputTokens: 100, outputTokens: 20 };

let seq = 0;
const stored = (body: EventBody): Event => {
  seq += 1;
  return { v: 1, seq, id: `s-${seq}`, time: '2026-01-01T00:00:00.000Z', runId: 'r', ...body };
};
const answer = (content: AssistantMessage['content'], usd?: number) =>
  stored({
    type: 'assistant',
    content,
    usage,
    stopReason: 'complete',
    provider: 'p',
    model: 'm',
    attempts: 1,
    wasted: { inputTokens: 0, outputTokens: 0 },
    durationMs: 1,
    ...(usd !== undefined && { usd }),
  });

function toldBy(events: readonly RunEvent[], from: UpdateView = view) {
  const session = new SessionUpdates();
  return { updates: events.flatMap((event) => session.next(event, from)) };
}

test('ACP: does not repeat streamed text when the response is complete', () => {
  const text = { type: 'text', text: 'Hello.' } as const;
  const live = toldBy([
    { type: 'reasoning_delta', index: 0, text: 'Hm' },
    { type: 'text_delta', index: 1, text: 'Hel' },
    { type: 'text_delta', index: 1, text: 'lo' },
    answer([{ type: 'reasoning', text: 'Hm' }, text]),
  ]).updates;
  const pieces = live.flatMap((one) =>
    'content' in one && one.content !== null && !Array.isArray(one.content) ? [one.content] : [],
  );
  expect(pieces.map((one) => one !== undefined && 'text' in one && one.text)).toEqual([
    'Hm',
    'Hel',
    'lo',
    '.',
  ]);
  const late = toldBy([answer([{ type: 'reasoning', text: 'Hm' }, text])]).updates;
  expect(seenOf(late)).toEqual(seenOf(live));
});

test('ACP: shows a retried response as a separate message', () => {
  const error = { kind: 'network', message: 'cut', retryable: true } as const;
  const { updates } = toldBy([
    { type: 'text_delta', index: 0, text: 'Hel' },
    { type: 'retry', attempt: 1, error, delayMs: 0 },
    { type: 'text_delta', index: 0, text: 'Hello' },
    answer([{ type: 'text', text: 'Hello.' }]),
    answer([{ type: 'text', text: 'Next.' }]),
  ]);
  expect(seenOf(updates).answers).toEqual(['Hel', 'Hello.', 'Next.']);
});

test('ACP: shows the partial text of a failed request once, live and when the session is loaded', () => {
  const failed: RunEvent = {
    v: 1,
    seq: 2,
    id: 's-2',
    time: '2026-01-01T00:00:00.000Z',
    runId: 'run',
    type: 'ask_failed',
    error: { kind: 'aborted', message: 'stopped' },
    durationMs: 1,
    partial: [
      { type: 'reasoning', text: 'Hm.' },
      { type: 'text', text: 'Once upon' },
    ],
  };
  const live = [
    { type: 'reasoning_delta', index: 0, text: 'Hm.' },
    { type: 'text_delta', index: 1, text: 'Once ' },
  ] as const;
  for (const shown of [[...live], []]) {
    const { updates } = toldBy([...shown, failed, answer([{ type: 'text', text: 'Next.' }])]);
    expect(seenOf(updates).answers).toEqual(['Once upon', 'Next.']);
  }
});

test('ACP: treats the same provider call id in two responses as two calls', () => {
  const call = {
    type: 'tool_call',
    id: 'x',
    toolName: 'read_file',
    arguments: { path: 'a', offset: 7 },
  } as const;
  const result = (turn: number, isError: boolean) =>
    stored({
      type: 'tool_result',
      callId: 'x',
      toolName: 'read_file',
      turn,
      index: 0,
      content: [{ type: 'text', text: `${turn}` }],
      isError,
      durationMs: 1,
    });
  const { updates } = toldBy([answer([call]), result(1, false), answer([call]), result(2, true)]);
  expect(updates[0]).toMatchObject({
    title: 'read_file a',
    kind: 'read',
    locations: [{ path: '/project/a', line: 7 }],
  });
  expect(seenOf(updates).calls.map(({ status, result }) => [status, result])).toEqual([
    ['completed', '1'],
    ['failed', '2'],
  ]);
});

test('ACP: sends a change as one diff per hunk, with the output that the model received', () => {
  const diff = [
    '--- src/a.ts\t',
    '+++ src/a.ts\t',
    '@@ -1,2 +1,2 @@',
    ' one',
    '-two',
    '+2',
    '@@ -9,1 +9,2 @@',
    ' nine',
    '+ten',
    '',
  ].join('\n');
  const place = { turn: 1, index: 0, callId: 'x', toolName: 'edit_file' };
  const facts = {
    content: [{ type: 'text', text: 'changed' }],
    isError: false,
    durationMs: 1,
    diff,
  } as const;
  const { updates } = toldBy([stored({ type: 'tool_result', ...place, ...facts })]);
  const path = '/project/src/a.ts';
  expect(updates).toMatchObject([
    {
      toolCallId: 'call-1-0',
      status: 'completed',
      rawOutput: 'changed',
      content: [
        { type: 'diff', path, oldText: 'one\ntwo\n', newText: 'one\n2\n' },
        { type: 'diff', path, oldText: 'nine\n', newText: 'nine\nten\n' },
      ],
    },
  ]);
});

test('ACP: reports usage after each response, and omits the cost when a part of it is unknown', () => {
  const { updates } = toldBy([answer([], 0.5), answer([], 0.25), answer([])]);
  expect(updates).toEqual([
    { sessionUpdate: 'usage_update', used: 120, size: 1000, cost: { amount: 0.5, currency: 'USD' } },
    { sessionUpdate: 'usage_update', used: 120, size: 1000, cost: { amount: 0.75, currency: 'USD' } },
    { sessionUpdate: 'usage_update', used: 120, size: 1000 },
  ]);
});

test('ACP: replays imported messages when a session is loaded, and counts them as responses', () => {
  const history = stored({
    type: 'history',
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
      { role: 'assistant', content: [{ type: 'text', text: 'Yes?' }] },
    ],
  });
  const events = [history, answer([{ type: 'text', text: 'So.' }])];
  expect(seenOf(toldBy(events, { ...view, replays: true }).updates)).toMatchObject({
    user: ['Hi'],
    answers: ['Yes?', 'So.'],
  });
  expect(toldBy(events).updates).toMatchObject([{ messageId: 'answer-2' }, {}]);
});

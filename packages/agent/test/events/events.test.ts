import { describe, expect, it } from 'vitest';
import type { Event } from '../../src/events/event.ts';
import { noMetrics } from '../../src/interfaces/metrics.ts';
import { eventJsonSchema, eventSchema } from '../../src/store/format.ts';
import { noUsage } from '../../src/values/usage.ts';

const head = { v: 1, seq: 1, id: 's-1', time: '2026-01-01T00:00:00.000Z', runId: 'r' } as const;
const call = { turn: 1, index: 0, callId: 'c', toolName: 't' } as const;

/** One sample of each event type; the mapped type requires a sample for every new one. */
const samples: { [Type in Event['type']]: Extract<Event, { type: Type }> } = {
  user: { ...head, type: 'user', content: [{ type: 'text', text: 'hi' }] },
  history: { ...head, type: 'history', messages: [{ role: 'tool_result', toolCallId: 'c', content: [] }] },
  assistant: {
    ...head,
    type: 'assistant',
    content: [
      { type: 'reasoning', text: 'hm', seal: { provider: 'p', data: { signature: 'x' } } },
      { type: 'opaque', seal: { provider: 'p', data: null } },
      { type: 'tool_call', id: 'c', toolName: 't', arguments: { a: 1 } },
    ],
    usage: noUsage,
    stopReason: 'tool_use',
    provider: 'p',
    model: 'm',
    attempts: 1,
    wasted: noUsage,
    durationMs: 1.5,
  },
  ask_failed: { ...head, type: 'ask_failed', error: { kind: 'network', message: 'cut' }, durationMs: 1 },
  tool_started: { ...head, ...call, type: 'tool_started', arguments: {} },
  step: { ...head, ...call, type: 'step', text: 'src/a.ts', called: 'read_file' },
  tool_result: { ...head, ...call, type: 'tool_result', content: [], isError: false, durationMs: 1 },
  approval_requested: {
    ...head,
    ...call,
    type: 'approval_requested',
    approvalId: 'a',
    arguments: {},
    hash: 'h',
  },
  approval_decided: { ...head, type: 'approval_decided', approvalId: 'a', decision: 'deny', waitedMs: 1 },
  compacted: { ...head, type: 'compacted', upTo: 2, summary: 's' },
  spent: {
    ...head,
    type: 'spent',
    who: 'agent',
    spent: { usage: noUsage, wasted: noUsage, attempts: 1, durationMs: 0, usd: 0.5 },
    ...{ provider: 'p', model: 'm', callId: 'c', toolName: 't', session: 'child' },
  },
  stop_requested: { ...head, type: 'stop_requested', reason: 'cancelled' },
  notice: { ...head, type: 'notice', code: 'no_progress', text: 'Again?' },
  resumed: { ...head, type: 'resumed' },
  finished: { ...head, type: 'finished', status: 'complete', metrics: noMetrics },
};

describe('the event schema', () => {
  it.each(Object.entries(samples))('accepts and keeps a %s event unchanged', (_type, sample) => {
    expect(eventSchema.parse(JSON.parse(JSON.stringify(sample)))).toEqual(sample);
  });

  it.each(Object.entries(samples))('rejects a %s event without its sequence number', (_type, sample) => {
    expect(eventSchema.safeParse({ ...sample, seq: undefined }).success).toBe(false);
  });

  it('keeps unknown fields of a later version', () => {
    expect(eventSchema.parse({ ...samples.resumed, later: 1 })).toHaveProperty('later', 1);
  });

  it('is published as JSON Schema with one branch for each type', () => {
    const schema = eventJsonSchema();
    expect(JSON.stringify(schema)).toContain('"const":"approval_requested"');
    expect(schema['oneOf'] ?? schema['anyOf']).toHaveLength(Object.keys(samples).length);
  });
});

import { z } from 'zod';
import type { Event } from './event.ts';

/*
 * The event format as zod schemas: for reading events that come from elsewhere, such as an imported log or
 * another process. The loop itself never loads this file, because importing zod costs more than a run.
 *
 * Within format version 1 only fields that may be absent and types of events are added; a reader keeps fields that
 * it does not know and passes over types that it does not know. docs/events.md has the rule, a test holds it.
 */

const count: z.ZodNumber = z.number().int().nonnegative();
const record: z.ZodRecord<z.ZodString, z.ZodUnknown> = z.record(z.string(), z.unknown());

const seal = z.looseObject({ provider: z.string(), data: z.json() });
const text = z.looseObject({ type: z.literal('text'), text: z.string() });
const image = z.looseObject({ type: z.literal('image'), mediaType: z.string(), data: z.string() });
const document = z.looseObject({
  type: z.literal('document'),
  mediaType: z.string(),
  data: z.string(),
  name: z.string().optional(),
});
const reasoning = z.looseObject({ type: z.literal('reasoning'), text: z.string(), seal: seal.optional() });
const opaque = z.looseObject({ type: z.literal('opaque'), seal });
const toolCall = z.looseObject({
  type: z.literal('tool_call'),
  id: z.string(),
  toolName: z.string(),
  arguments: record,
  problem: z.string().optional(),
  seal: seal.optional(),
});

const userContent = z.array(z.discriminatedUnion('type', [text, image, document]));
const assistantContent = z.array(z.discriminatedUnion('type', [text, reasoning, opaque, toolCall]));

const message = z.discriminatedUnion('role', [
  z.looseObject({ role: z.literal('user'), content: userContent }),
  z.looseObject({ role: z.literal('assistant'), content: assistantContent }),
  z.looseObject({
    role: z.literal('tool_result'),
    toolCallId: z.string(),
    content: userContent,
    isError: z.boolean().optional(),
    notRun: z.boolean().optional(),
  }),
]);

const usage = z.looseObject({
  inputTokens: count,
  outputTokens: count,
  cacheReadTokens: count.optional(),
  cacheWriteTokens: count.optional(),
  cacheWriteLongTokens: count.optional(),
  reasoningTokens: count.optional(),
  estimated: z.boolean().optional(),
});

const error = z.looseObject({
  kind: z.enum(['agent', 'tool', 'timeout', 'rate_limit', 'network', 'invalid', 'auth', 'aborted', 'limit']),
  message: z.string(),
  code: z.string().optional(),
  retryable: z.boolean().optional(),
  retryAfterMs: z.number().optional(),
  status: z.number().optional(),
  provider: z.string().optional(),
  requestId: z.string().optional(),
  attempts: count.optional(),
  wasted: usage.optional(),
  cause: z.looseObject({ name: z.string(), message: z.string(), code: z.string().optional() }).optional(),
});

const metrics = z.looseObject({
  totalInputTokens: count,
  totalOutputTokens: count,
  invocations: count,
  cacheReadTokens: count,
  cacheWriteTokens: count,
  reasoningTokens: count,
  attempts: count,
  toolCalls: count,
  wasted: usage,
  usd: z.number().optional(),
  durationMs: z.number(),
  modelMs: z.number(),
  toolMs: z.number(),
  waitedMs: z.number(),
});

const limit = z.enum(['turns', 'toolCalls', 'tokens', 'usd', 'no_progress']);
const head = {
  v: z.literal(1),
  seq: count,
  id: z.string(),
  time: z.iso.datetime(),
  runId: z.string(),
  inherited: z.literal(true).optional(),
};
const place = { turn: count, index: count };
const subject = { callId: z.string(), toolName: z.string() };
const shown = { summary: z.string().optional(), diff: z.string().optional() };

const events = z.discriminatedUnion('type', [
  z.looseObject({ ...head, type: z.literal('user'), content: userContent, steer: z.boolean().optional() }),
  z.looseObject({ ...head, type: z.literal('history'), messages: z.array(message) }),
  z.looseObject({
    ...head,
    type: z.literal('assistant'),
    content: assistantContent,
    usage,
    stopReason: z.enum(['complete', 'tool_use', 'max_tokens', 'refusal', 'pause', 'context_full', 'unknown']),
    provider: z.string(),
    model: z.string(),
    attempts: count,
    wasted: usage,
    durationMs: z.number(),
    usd: z.number().optional(),
  }),
  z.looseObject({
    ...head,
    type: z.literal('ask_failed'),
    error,
    durationMs: z.number(),
    compacting: z.boolean().optional(),
    partial: assistantContent.optional(),
    usd: z.number().optional(),
  }),
  z.looseObject({ ...head, ...place, ...subject, type: z.literal('tool_started'), arguments: record }),
  z.looseObject({
    ...head,
    ...place,
    ...subject,
    ...shown,
    type: z.literal('tool_result'),
    content: userContent,
    isError: z.boolean(),
    durationMs: z.number(),
    notRun: z.boolean().optional(),
    denied: z.boolean().optional(),
    stopsBatch: z.boolean().optional(),
    final: z.boolean().optional(),
    blobs: z.array(z.looseObject({ id: z.string(), bytes: count })).optional(),
  }),
  z.looseObject({
    ...head,
    ...place,
    ...subject,
    ...shown,
    type: z.literal('approval_requested'),
    approvalId: z.string(),
    arguments: record,
    hash: z.string(),
    expiresAt: z.number().optional(),
    subject: z.string().optional(),
    mustAsk: z.string().optional(),
  }),
  z.looseObject({
    ...head,
    type: z.literal('approval_decided'),
    approvalId: z.string(),
    decision: z.enum(['allow', 'deny', 'expired', 'superseded']),
    message: z.string().optional(),
    waitedMs: z.number(),
  }),
  z.looseObject({
    ...head,
    type: z.literal('compacted'),
    upTo: count,
    summary: z.string(),
    spent: z
      .looseObject({
        answers: count.optional(),
        usage,
        wasted: usage,
        attempts: count,
        durationMs: z.number(),
        usd: z.number().optional(),
      })
      .optional(),
  }),
  z.looseObject({
    ...head,
    type: z.literal('stop_requested'),
    reason: z.enum(['cancelled', 'timeout', 'limit']),
    limit: limit.optional(),
  }),
  z.looseObject({ ...head, type: z.literal('notice'), code: z.string(), text: z.string() }),
  z.looseObject({ ...head, type: z.literal('resumed') }),
  z.looseObject({
    ...head,
    type: z.literal('finished'),
    status: z.enum([
      'complete',
      'max_tokens',
      'refusal',
      'limit',
      'cancelled',
      'timeout',
      'waiting',
      'failed',
    ]),
    limit: limit.optional(),
    error: error.optional(),
    metrics,
  }),
]);

/** The kinds of events that this version stores. */
export const knownTypes: ReadonlySet<string> = new Set(events.options.map(({ shape }) => shape.type.value));

/** Checks one stored event of format version 1. */
export const eventSchema: z.ZodType<Event> = events as unknown as z.ZodType<Event>;

/** The event format as JSON Schema (draft 2020-12), for programs in other languages. */
export function eventJsonSchema(): Record<string, unknown> {
  return z.toJSONSchema(events, { target: 'draft-2020-12' }) as Record<string, unknown>;
}

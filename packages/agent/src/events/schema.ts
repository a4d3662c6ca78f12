import { z } from 'zod';
import type { Event } from './event.ts';
import {
  assistantContent,
  count,
  error,
  limitName,
  message,
  metrics,
  named,
  record,
  requestUsage,
  stopReason,
  toolResultContent,
  usage,
  userContent,
} from './value-schema.ts';

/*
 * The event format, as zod schemas: the only place where it is written. The TypeScript types in stored-events.ts are
 * generated from here (npm run generate -- events), and so is the JSON Schema. The loop itself never loads this file,
 * because importing zod costs more than a run.
 *
 * Within format version 1 only fields that may be absent and types of events are added; a reader keeps fields that
 * it does not know and passes over types that it does not know. docs/events.md has the rule, a test holds it.
 */

const flag = z.boolean().optional();
const words = z.string().optional();
const usd = z.number().optional();
const place = { turn: count, index: count };
const subject = { callId: z.string(), toolName: z.string() };

const runStatus = named(
  'RunStatus',
  'How a run ended.',
  z.enum(['complete', 'max_tokens', 'refusal', 'limit', 'cancelled', 'timeout', 'waiting', 'failed']),
);

const bodies = [
  named(
    'UserEvent',
    'A person or program said something. `steer` marks what was said during a run.',
    z.looseObject({ type: z.literal('user'), content: userContent, steer: flag }),
  ),
  named(
    'HistoryEvent',
    'A conversation that began elsewhere. Only ever the first event of a session.',
    z.looseObject({ type: z.literal('history'), messages: z.array(message) }),
  ),
  named(
    'AssistantEvent',
    'The model answered.',
    z.looseObject({
      type: z.literal('assistant'),
      content: assistantContent,
      usage,
      stopReason,
      provider: z.string(),
      model: z.string(),
      attempts: count,
      wasted: usage,
      durationMs: z.number(),
      usd: usd.describe('What the answer cost in US dollars; absent when the price is unknown.'),
    }),
  ),
  named(
    'AskFailedEvent',
    'A model request failed for good, or the conversation could not be made smaller.',
    z.looseObject({
      type: z.literal('ask_failed'),
      error,
      durationMs: z.number(),
      compacting: flag.describe(
        'True when it was about making the conversation smaller, whether or not a model was asked.',
      ),
      partial: assistantContent
        .optional()
        .describe(
          'What the last attempt had said until it ended: text, and the reasoning before it. Absent without text.',
        ),
      usd: usd.describe(
        'What `error.wasted` cost in US dollars; absent when nothing was used or the price is unknown.',
      ),
    }),
  ),
  named(
    'ToolStartedEvent',
    'A tool is about to run. After a crash this event without a result means: outcome unknown.',
    z.looseObject({ ...place, ...subject, type: z.literal('tool_started'), arguments: record }),
  ),
  named(
    'ToolResultEvent',
    'A call was answered: by its tool, by a denied permission, or because its arguments were not valid.',
    z.looseObject({
      ...place,
      ...subject,
      summary: words.describe('One short phrase for watchers.'),
      diff: words.describe('A unified diff of what changed, for watchers.'),
      type: z.literal('tool_result'),
      content: toolResultContent,
      isError: z.boolean(),
      durationMs: z.number(),
      notRun: flag.describe('True when the tool never started.'),
      denied: flag.describe('True when a gate or a person refused the call.'),
      stopsBatch: flag.describe('The calls after this one in the same answer are not run.'),
      final: flag.describe('This result is the answer that was asked for: no further answer is needed.'),
      blobs: z
        .array(
          named(
            'BlobReference',
            'A text that is kept outside the log.',
            z.looseObject({ id: z.string(), bytes: count.describe('Size of the whole in bytes.') }),
          ),
        )
        .optional()
        .describe('Where the whole of a long output is kept; `content` holds its head and tail.'),
    }),
  ),
  named(
    'ApprovalRequestedEvent',
    'A person is asked. The answer must name this id and counts once.',
    z.looseObject({
      ...place,
      ...subject,
      summary: words,
      diff: words,
      type: z.literal('approval_requested'),
      approvalId: z.string(),
      arguments: record,
      hash: z.string().describe('Hash of tool and arguments: what was approved is what will run.'),
      expiresAt: z
        .number()
        .optional()
        .describe('Wall clock, milliseconds since 1970. Absent: does not expire.'),
      subject: words,
      mustAsk: words.describe(
        'Why the tool wants a person to look at this call; no rule that covers more than this call may answer it.',
      ),
    }),
  ),
  named(
    'ApprovalDecidedEvent',
    'A person, or the passing of time, decided.',
    z.looseObject({
      type: z.literal('approval_decided'),
      approvalId: z.string(),
      decision: z.enum(['allow', 'deny', 'expired', 'superseded']),
      message: words,
      waitedMs: z
        .number()
        .describe('How long the decision took, in milliseconds; not counted towards the time limit.'),
    }),
  ),
  named(
    'CompactedEvent',
    'Messages before `upTo` (an index into the folded messages) are replaced by a summary.',
    z.looseObject({
      type: z.literal('compacted'),
      upTo: count,
      summary: z.string(),
      spent: requestUsage.optional().describe('What the models used that were asked for the summary.'),
    }),
  ),
  named(
    'StopRequestedEvent',
    'The run was cancelled, its time is up, or a limit was reached and one closing answer is still wanted. Stored, or a crash after it would revive the run.',
    z.looseObject({
      type: z.literal('stop_requested'),
      reason: z.enum(['cancelled', 'timeout', 'limit']),
      limit: limitName.optional().describe('With reason `limit`: which one.'),
    }),
  ),
  named(
    'NoticeEvent',
    'The runtime tells the model something that neither a user nor a tool said. Only ever between two turns.',
    z.looseObject({
      type: z.literal('notice'),
      code: z
        .string()
        .describe(
          'Why, as a word for programs: `no_progress` when the model repeats a turn. Further words may follow.',
        ),
      text: z.string().describe('What the model reads.'),
    }),
  ),
  named(
    'ResumedEvent',
    'A session is resumed after a crash or a wait.',
    z.looseObject({ type: z.literal('resumed') }),
  ),
  named(
    'FinishedEvent',
    'A run is over. Always its last event.',
    z.looseObject({
      type: z.literal('finished'),
      status: runStatus,
      limit: limitName.optional(),
      error: error.optional(),
      metrics,
    }),
  ),
] as const;

const head = {
  v: z.literal(1).describe('Version of the event format.'),
  seq: count.describe('Place in the session, from 1, without gaps.'),
  id: z.string().describe('`<session>-<seq>`: the same event has the same id wherever it is read.'),
  time: z.iso.datetime().describe('Wall clock, ISO 8601.'),
  runId: z.string(),
  inherited: z
    .literal(true)
    .optional()
    .describe(
      'The event was copied from the session that this one was forked from, where its cost is counted.',
    ),
};

const [first, ...rest] = bodies.map((body) => z.looseObject({ ...head, ...body.shape }));
const events = z.discriminatedUnion('type', [first as NonNullable<typeof first>, ...rest]);

/** What happened, before the log gave it a place. */
export const eventBodySchema: z.ZodType = named(
  'EventBody',
  'What happened, before the log gave it a place.',
  z.union(bodies),
);

/** The kinds of events that this version stores. */
export const knownTypes: ReadonlySet<string> = new Set(bodies.map(({ shape }) => shape.type.value));

/** Checks one stored event of format version 1. */
export const eventSchema: z.ZodType<Event> = events as unknown as z.ZodType<Event>;

/** The event format as JSON Schema (draft 2020-12), for programs in other languages. */
export function eventJsonSchema(): Record<string, unknown> {
  return z.toJSONSchema(events, { target: 'draft-2020-12' }) as Record<string, unknown>;
}

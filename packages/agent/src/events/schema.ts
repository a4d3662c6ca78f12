import { z } from 'zod';
import type { Event } from './event.ts';
import {
  assistantContent,
  count,
  error,
  limitName,
  message,
  metrics,
  record,
  requestUsage,
  stopReason,
  toolResultContent,
  tried,
  usage,
  userContent,
  withTypeName,
} from './value-schema.ts';

/*
 * The event format as zod schemas: its only definition. `npm run generate -- events` generates the TypeScript types in
 * stored-events.ts and the JSON Schema from it. The loop never loads this file, because importing zod takes longer than a run.
 *
 * Within format version 1, only optional fields and event types are added. A reader keeps fields and ignores event types
 * that it does not know. docs/events.md states this rule, and a test enforces it.
 */

const flag = z.boolean().optional();
const words = z.string().optional();
const usd = z.number().optional();
const place = { turn: count, index: count };
const subject = { callId: z.string(), toolName: z.string() };

const reachedLimit = withTypeName(
  'ReachedLimit',
  'A spending limit that leaves too little for the next request.',
  z.looseObject({
    amount: z.enum(['usd', 'tokens', 'requests']).describe('The limited quantity.'),
    max: z.number(),
    spent: z.number().describe('The amount that had been used when the limit was reached.'),
    more: z.number().describe('The increase offered to the user.'),
    budget: words.describe(
      'The name of the budget in its store. Absent for a limit that belongs to the run itself.',
    ),
  }),
);

const runStatus = withTypeName(
  'RunStatus',
  'The outcome of a run.',
  z.enum(['complete', 'max_tokens', 'refusal', 'limit', 'cancelled', 'timeout', 'waiting', 'failed']),
);

const bodies = [
  withTypeName(
    'UserEvent',
    'A message from a user or a program. `steer` marks a message sent during a run.',
    z.looseObject({ type: z.literal('user'), content: userContent, steer: flag }),
  ),
  withTypeName(
    'HistoryEvent',
    'An imported conversation; always the first event of its session.',
    z.looseObject({ type: z.literal('history'), messages: z.array(message) }),
  ),
  withTypeName(
    'AssistantEvent',
    'A model response.',
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
      usd: usd.describe('Cost of the response in US dollars; absent if the price is unknown.'),
      tried: tried.describe('The models that failed or were skipped before this one, in order.'),
    }),
  ),
  withTypeName(
    'AskFailedEvent',
    'A model request failed after all retries, or the conversation could not be shortened.',
    z.looseObject({
      type: z.literal('ask_failed'),
      error,
      durationMs: z.number(),
      compacting: flag.describe(
        'True if the failure occurred while the conversation was being shortened, with or without a model request.',
      ),
      partial: assistantContent
        .optional()
        .describe(
          'The text from the last attempt, with the reasoning that precedes the text. Absent if there is no text.',
        ),
      usd: usd.describe(
        'Cost of `error.wasted` in US dollars; absent if nothing was used or the price is unknown.',
      ),
      provider: words,
      model: words.describe(
        'The requested model. If the agent has several, `error.tried` lists those that failed or were skipped.',
      ),
    }),
  ),
  withTypeName(
    'ToolStartedEvent',
    'A tool is about to run. If this event has no result after a crash, the outcome is unknown.',
    z.looseObject({
      ...place,
      ...subject,
      type: z.literal('tool_started'),
      arguments: record,
      waitUntil: z
        .number()
        .optional()
        .describe(
          'The call waits until this time, in milliseconds since 1970, before its tool runs. Absent if the call does not wait.',
        ),
    }),
  ),
  withTypeName(
    'ToolResultEvent',
    'The result of a call: the output of its tool, or an error if permission was denied or the arguments were invalid.',
    z.looseObject({
      ...place,
      ...subject,
      summary: words.describe('A short phrase for users.'),
      diff: words.describe('A unified diff of the changes, for users.'),
      type: z.literal('tool_result'),
      content: toolResultContent,
      isError: z.boolean(),
      durationMs: z.number(),
      notRun: flag.describe('True if the tool never started.'),
      denied: flag.describe('True if a gate or a user denied the call.'),
      stopsBatch: flag.describe('True if the later calls in the same response are not run.'),
      final: flag.describe('True if this result is the requested output: no further response is needed.'),
      untrusted: flag.describe(
        'True if the content may contain text that other people wrote. Later calls to tools that send data require a decision.',
      ),
      blobs: z
        .array(
          withTypeName(
            'BlobReference',
            'A reference to text stored outside the log.',
            z.looseObject({ id: z.string(), bytes: count.describe('Size of the complete text in bytes.') }),
          ),
        )
        .optional()
        .describe('References to the complete text of long output; `content` contains its start and end.'),
    }),
  ),
  withTypeName(
    'StepEvent',
    'A step of a call that is running, such as what a sub-agent said or called. For users: no model receives it.',
    z.looseObject({
      ...place,
      ...subject,
      type: z.literal('step'),
      text: z.string(),
      called: words.describe('The tool that this step called; `text` is then what it was called with.'),
      isError: flag.describe('True if the step failed.'),
    }),
  ),
  withTypeName(
    'ApprovalRequestedEvent',
    'A user must allow or deny a call or a higher limit. The decision must name this approval id, and only the first decision counts.',
    z.looseObject({
      ...place,
      ...subject,
      summary: words,
      diff: words,
      type: z.literal('approval_requested'),
      approvalId: z.string(),
      arguments: record,
      hash: z
        .string()
        .describe(
          'Hash of the tool, its arguments, `changes` and `after`. It ensures that only the approved call is executed.',
        ),
      changes: z
        .array(
          withTypeName(
            'ChangeDigest',
            'A change that a call would make: its target, and the SHA-256 hashes of the content before and after it.',
            z.looseObject({
              target: z
                .string()
                .describe('The target of the change; for a file, its real path relative to the workspace.'),
              before: words.describe('Absent if the target does not exist.'),
              after: words.describe('Absent if the target is removed.'),
            }),
          ),
        )
        .optional()
        .describe(
          'All changes that the call would make, if its tool knows them. If they differ when the call is about to run, the user is asked again.',
        ),
      after: z
        .array(z.string())
        .optional()
        .describe(
          'If `changes` is absent: the calls in the same response that run first and can change what this call does.',
        ),
      isRepeated: z
        .boolean()
        .optional()
        .describe(
          'True if the user allowed the call before, but it would now do something different from what the user was shown.',
        ),
      expiresAt: z
        .number()
        .optional()
        .describe(
          'The wall-clock time when the request expires, in milliseconds since 1970. Absent if the request does not expire.',
        ),
      subject: words,
      mustAsk: words.describe(
        'The reason why the tool requires a user to decide. A rule that covers more than this call cannot replace that decision.',
      ),
      limit: reachedLimit
        .optional()
        .describe(
          'The limit that was reached. If present, the decision is about this limit, not about a call: `allow` raises the limit.',
        ),
    }),
  ),
  withTypeName(
    'ApprovalDecidedEvent',
    'The outcome of an approval request: a user decided, or the request expired or was superseded by a new message.',
    z.looseObject({
      type: z.literal('approval_decided'),
      approvalId: z.string(),
      decision: z.enum(['allow', 'deny', 'expired', 'superseded']),
      message: words,
      more: z
        .number()
        .optional()
        .describe(
          'How much is added to the limit that was reached. If absent, the limit is raised by the amount that the approval request offered.',
        ),
      by: words.describe('Who decided, as named by the calling program, such as a token of the server.'),
      waitedMs: z
        .number()
        .describe('Time until the decision, in milliseconds; not counted toward the time limit.'),
    }),
  ),
  withTypeName(
    'CompactedEvent',
    'Replaces the messages before `upTo` (an index into the folded messages) with a summary.',
    z.looseObject({
      type: z.literal('compacted'),
      upTo: count,
      summary: z.string(),
      tokensBefore: z.number().optional().describe('Estimated size of the conversation before, in tokens.'),
      tokensAfter: z.number().optional().describe('Estimated size of the conversation after, in tokens.'),
      spent: requestUsage.optional().describe('Usage of the requests that created the summary.'),
      provider: words,
      model: words.describe('The model that responded last. Absent if no request was sent.'),
    }),
  ),
  withTypeName(
    'SpentEvent',
    "The usage of requests that the loop did not send itself: those of a sub-agent, another program, a tool or an assistant's memory.",
    z.looseObject({
      type: z.literal('spent'),
      who: z
        .string()
        .describe(
          'The source of the requests: `agent` (a sub-agent), `delegate` (another program), `memory` (a summary for the memory), `embedding`, or `tool` (anything else). More values may be added later.',
        ),
      spent: requestUsage,
      provider: words,
      model: words,
      callId: words.describe('The call that they were sent for.'),
      toolName: words,
      reservation: words.describe(
        'The id of their reservation in a budget store. After a crash, the process that resumes the session settles the reservation.',
      ),
      session: words.describe(
        'The session that sent them, if its log is in the same store. Their cost is counted there.',
      ),
    }),
  ),
  withTypeName(
    'StopRequestedEvent',
    'The run was cancelled, its time limit was reached, or another limit was reached and one closing response is still needed. The event is stored so that the cancellation or limit still applies after a crash.',
    z.looseObject({
      type: z.literal('stop_requested'),
      reason: z.enum(['cancelled', 'timeout', 'limit']),
      limit: limitName.optional().describe('The limit that was reached, if the reason is `limit`.'),
    }),
  ),
  withTypeName(
    'NoticeEvent',
    'A message from the runtime to the model. Occurs only between two turns.',
    z.looseObject({
      type: z.literal('notice'),
      code: z
        .string()
        .describe(
          'The machine-readable reason: `no_progress` if the model repeats a turn. More values may be added later.',
        ),
      text: z.string().describe('The text that the model sees.'),
    }),
  ),
  withTypeName(
    'ResumedEvent',
    'A session is resumed after a crash or a wait.',
    z.looseObject({ type: z.literal('resumed') }),
  ),
  withTypeName(
    'FinishedEvent',
    'The end of a run; always its last event.',
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
  seq: count.describe('Position in the session, starting at 1, without gaps.'),
  id: z.string().describe('`<session>-<seq>`: the same event has the same id everywhere.'),
  time: z.iso.datetime().describe('Wall-clock time, ISO 8601.'),
  runId: z.string(),
  user: words.describe('The user that the run is for, as named by the calling program.'),
  inherited: z
    .literal(true)
    .optional()
    .describe(
      'True if the event was copied from the session that this one was forked from. Its cost is counted there.',
    ),
};

const [first, ...rest] = bodies.map((body) => z.looseObject({ ...head, ...body.shape }));
const events = z.discriminatedUnion('type', [first as NonNullable<typeof first>, ...rest]);

/** An event without the position that the log assigns. */
export const eventBodySchema: z.ZodType = withTypeName(
  'EventBody',
  'An event without the position that the log assigns.',
  z.union(bodies),
);

/** The event types that this version stores. */
export const knownTypes: ReadonlySet<string> = new Set(bodies.map(({ shape }) => shape.type.value));

/** The schema of a stored event of format version 1. */
export const eventSchema: z.ZodType<Event> = events as unknown as z.ZodType<Event>;

/** Returns the event format as JSON Schema (draft 2020-12), for programs in other languages. */
export function eventJsonSchema(): Record<string, unknown> {
  return z.toJSONSchema(events, { target: 'draft-2020-12' }) as Record<string, unknown>;
}

import type { ShareLevel } from '@cobbler/agent/store';
import { sessionIdPattern } from '@cobbler/agent/store';
import { z } from 'zod';
import { scopes } from '../requests/scope.ts';
import type { NamedReceivedDecision, ReceivedDecision } from '../sessions/approval-service.ts';
import type { ModelChange } from '../sessions/session-models.ts';
import type { Accepted, PromptContent } from '../sessions/session-ports.ts';

/** The id of a session. */
export const id: z.ZodString = z.string().regex(new RegExp(`^${sessionIdPattern}$`));

/** A key that becomes the id of a run. */
export const runKey: z.ZodString = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/);

const text = z.strictObject({ type: z.literal('text'), text: z.string() });
const fileFields = { mediaType: z.string(), data: z.base64(), name: z.string().optional() };
const file = z.strictObject({ type: z.literal('file'), ...fileFields });
/** The types that clients sent before there was one type for all files. The harness converts them. */
const earlierFiles = (['image', 'document'] as const).map((type) =>
  z.strictObject({ type: z.literal(type), ...fileFields }).meta({ deprecated: true }),
);

/** A prompt for the model: text, or parts. */
const promptContent = z
  .union([z.string(), z.array(z.discriminatedUnion('type', [text, file, ...earlierFiles])).min(1)], {
    error: ({ input }) =>
      input === undefined ? 'content is required' : 'content must be a string or an array of parts',
  })
  .refine((value) => typeof value !== 'string' || value.trim() !== '', { error: 'content is required' })
  .meta({ id: 'Content' });

export const content: z.ZodType<PromptContent> = promptContent as z.ZodType<PromptContent>;

export const promptBody: z.ZodType<{ content: PromptContent }> = z
  .strictObject({ content })
  .meta({ id: 'Prompt' });

export const accepted: z.ZodType<Accepted> = z
  .object({ sessionId: id, runId: z.string(), seq: z.int().positive() })
  .meta({ id: 'Accepted', description: 'A run that was started, and its first event.' });

/** Maximum length of a title in UTF-16 code units. */
const maxTitle = 200;

/** The name of a user. */
export const userName: z.ZodString = z.string().min(1).max(100);

const level = z.enum(['read', 'approve', 'use']);

/** What a request wants to change: without `may`, the share with this user ends. */
export interface WantedShare {
  readonly with: string;
  readonly may?: ShareLevel | undefined;
}

/** A change of a session. */
export interface SessionChange extends ModelChange {
  readonly title?: string | undefined;
  readonly share?: WantedShare | undefined;
  readonly plan?: boolean | undefined;
}

export const sessionChange: z.ZodType<SessionChange> = z
  .strictObject({
    title: z.string().max(maxTitle).optional(),
    share: z
      .strictObject({ with: userName, may: z.enum([...level.options, 'none']) })
      .transform(({ may, ...share }) => ({ ...share, may: may === 'none' ? undefined : may }))
      .optional(),
    model: z.string().max(200).optional(),
    effort: z.string().max(20).nullable().optional().meta({ description: 'Null: the default.' }),
    plan: z
      .boolean()
      .optional()
      .meta({ description: 'Turns plan mode on or off: nothing may change until a user approves a plan.' }),
  })
  .refine((change) => Object.values(change).some((value) => value !== undefined), {
    error: 'title, share, model, effort or plan is required',
  })
  .meta({ id: 'SessionChange' });

const nextModel = z
  .object({ model: z.string(), effort: z.string().optional(), efforts: z.array(z.string()) })
  .meta({ id: 'NextModel', description: 'The model of the next run, and the efforts that it offers.' });

export const setup: z.ZodType = z
  .object({
    folder: z.string().optional(),
    permission: z.string().optional(),
    models: z.array(z.object({ name: z.string(), text: z.string().optional() })),
    next: nextModel.optional(),
    local: z.boolean().meta({
      description:
        'True if users can undo changes to files, use plan mode and see commands in the background.',
    }),
  })
  .meta({ id: 'Setup' });

export const session: z.ZodType = z
  .object({
    id,
    title: z.string(),
    status: z.enum([
      'new',
      'running',
      'interrupted',
      'waiting',
      'complete',
      'max_tokens',
      'refusal',
      'limit',
      'cancelled',
      'timeout',
      'failed',
    ]),
    user: z.string().optional().meta({ description: 'The user to whom the session belongs.' }),
    runId: z.string().optional().meta({ description: 'The active run.' }),
    events: z.int().nonnegative(),
    createdAt: z.iso.datetime().optional(),
    updatedAt: z.iso.datetime().optional(),
    model: z.string().optional(),
    folder: z
      .string()
      .optional()
      .meta({ description: "The session's directory. Only its owner receives this field." }),
    prompts: z.int().optional(),
    answers: z.int().optional(),
    toolCalls: z.int().optional(),
    inputTokens: z.int().optional(),
    outputTokens: z.int().optional(),
    usd: z.number().optional(),
    parent: z.object({ sessionId: id, seq: z.int() }).optional(),
    shares: z
      .array(z.object({ user: z.string(), may: level }))
      .optional()
      .meta({
        description: 'The users with whom the session is shared. Only its owner receives this field.',
      }),
    may: level
      .optional()
      .meta({ description: 'For a session of another user: the access that the share grants.' }),
    next: nextModel
      .optional()
      .meta({ description: 'Absent in lists, and if users cannot choose the model.' }),
    plan: z.boolean().optional().meta({ description: 'True in plan mode. Absent in lists.' }),
  })
  .meta({ id: 'Session', description: 'A session. Its log contains `events` events, numbered from 1.' });

export const sessionList: z.ZodType = z
  .object({ items: z.array(session), next: z.string().optional(), version: z.string().optional() })
  .meta({ id: 'SessionList' });

export const folderList: z.ZodType = z.object({ items: z.array(z.string()) }).meta({ id: 'FolderList' });

export const foundMessages: z.ZodType = z
  .object({
    items: z.array(
      z.object({
        sessionId: id,
        title: z.string(),
        seq: z.int().positive(),
        role: z.enum(['user', 'assistant']),
        snippet: z
          .array(z.string())
          .meta({ description: 'The parts of the snippet in order. Every second part is a match.' }),
      }),
    ),
    next: z.string().optional(),
    isComplete: z.boolean(),
  })
  .meta({ id: 'FoundMessages' });

const step = {
  hash: z.string(),
  files: z.array(
    z.object({
      path: z.string(),
      change: z.enum(['restore', 'delete']),
      isChanged: z.boolean().meta({
        description: 'True if another program has changed the file since. Its change will be lost too.',
      }),
    }),
  ),
};

export const undoOffer: z.ZodType = z
  .object({
    undo: z.object({ seq: z.int().meta({ description: 'The message.' }), ...step }).optional(),
    redo: z
      .object({ sessionId: id.meta({ description: 'The session before the undo.' }), ...step })
      .optional(),
  })
  .meta({ id: 'UndoOffer' });

export const undoBody: z.ZodType<{ hash: string }> = z
  .strictObject({ hash: z.string().meta({ description: 'The hash of the step that the user has seen.' }) })
  .meta({ id: 'UndoBody' });

export const command: z.ZodType = z
  .object({
    id: z.string(),
    command: z.string(),
    status: z.string().meta({ description: '`running`, or how it ended.' }),
    durationMs: z.int(),
    output: z
      .string()
      .optional()
      .meta({ description: 'Its output so far, without colors. Absent in lists.' }),
  })
  .meta({ id: 'Command' });

export const commandList: z.ZodType = z.object({ items: z.array(command) }).meta({ id: 'CommandList' });

const reachedLimit = z
  .object({
    amount: z.enum(['usd', 'tokens', 'requests']),
    ...{ max: z.number(), spent: z.number(), more: z.number(), budget: z.string().optional() },
  })
  .meta({
    id: 'ReachedLimit',
    description:
      'A limit that leaves too little for the next request. Granting the approval raises the limit.',
  });

export const approval: z.ZodType = z
  .object({
    approvalId: id,
    sessionId: id,
    toolName: z.string(),
    arguments: z.record(z.string(), z.unknown()),
    hash: z.string(),
    askedAt: z.string(),
    expiresAt: z.iso.datetime().optional(),
    subject: z.string().optional(),
    summary: z.string().optional(),
    diff: z.string().optional(),
    mustAsk: z.string().optional(),
    after: z.array(z.string()).optional(),
    isRepeated: z.boolean().optional(),
    limit: reachedLimit.optional(),
    decision: z.string().optional(),
    rules: z.array(z.string()).optional().meta({
      description: 'For the owner: the rules that can be saved with the decision, the narrowest first.',
    }),
  })
  .meta({ id: 'Approval' });

export const approvalList: z.ZodType = z.object({ items: z.array(approval) }).meta({ id: 'ApprovalList' });

const answer = {
  decision: z.enum(['allow', 'deny']),
  hash: z.string().optional().meta({ description: 'With `allow`: the hash of the approval.' }),
  message: z.string().max(10_000).optional().meta({ description: 'With `deny`: a message for the model.' }),
  always: z.string().max(10_000).optional().meta({
    description: 'With `allow`: one of the `rules` of the approval, to be saved for later calls.',
  }),
  more: z.number().positive().optional().meta({
    description:
      'With `allow`, for an approval with `limit`: the amount to add. Default: the amount offered.',
  }),
};

export const answerBody: z.ZodType<ReceivedDecision> = z.strictObject(answer).meta({ id: 'Answer' });

interface ResumeBody {
  readonly answers?: readonly NamedReceivedDecision[] | undefined;
  readonly compact?: { readonly keep?: string | undefined } | undefined;
}

export const resumeBody: z.ZodType<ResumeBody> = z
  .strictObject({
    compact: z
      .strictObject({ keep: z.string().max(10_000).optional() })
      .optional()
      .meta({
        description:
          'Shortens the conversation instead of continuing the run. `keep` names what the summary must keep. Ignored if `answers` contains decisions.',
      }),
    answers: z
      .array(z.strictObject({ ...answer, approvalId: id }))
      .max(100)
      .optional(),
  })
  .meta({ id: 'Resume' });

type Maximum = z.ZodOptional<z.ZodInt>;
const maximum: Maximum = z.int().positive().optional();

/** The limits of a token, besides its budget. */
export const tokenLimits: { readonly requestsPerMinute: Maximum; readonly runningSessions: Maximum } = {
  requestsPerMinute: maximum.meta({
    description: 'Maximum number of requests per minute that change something.',
  }),
  runningSessions: maximum.meta({
    description: 'Maximum number of sessions that run for its user at the same time.',
  }),
};

export const tokenInfo: z.ZodType = z
  .object({
    id: z.string(),
    name: z.string(),
    scopes: z.array(z.enum(scopes)),
    createdAt: z.iso.datetime(),
    expiresAt: z.iso.datetime().optional(),
    budget: z.string().optional(),
    ...tokenLimits,
  })
  .meta({ id: 'Token' });

const usage = z
  .object({
    inputTokens: z.number(),
    outputTokens: z.number(),
    cacheReadTokens: z.number().optional(),
    cacheWriteTokens: z.number().optional(),
    reasoningTokens: z.number().optional(),
  })
  .meta({ id: 'Usage' });

export const usageTotals: z.ZodType = z
  .object({
    runs: z.int(),
    invocations: z.int(),
    toolCalls: z.int(),
    usage,
    wasted: usage,
    usd: z.number().optional(),
  })
  .meta({ id: 'UsageTotals' });

const costCounts = {
  requests: z.int(),
  unpriced: z.int(),
  usd: z.number(),
  inputTokens: z.number(),
  outputTokens: z.number(),
  cacheReadTokens: z.number(),
  cacheWriteTokens: z.number(),
  reasoningTokens: z.number(),
  wastedTokens: z.number(),
};

export const costList: z.ZodType = z
  .object({
    items: z.array(
      z.object({
        key: z.string().nullable(),
        ...costCounts,
        first: z.iso.datetime(),
        last: z.iso.datetime(),
      }),
    ),
    total: z.object(costCounts),
  })
  .meta({ id: 'Costs' });

/** A failure in the format of RFC 9457. */
export const problemSchema: z.ZodType = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    code: z.string(),
    requestId: z.string(),
  })
  .meta({ id: 'Problem' });

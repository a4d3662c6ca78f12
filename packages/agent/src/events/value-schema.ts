import { z } from 'zod';

/*
 * The values that events are made of. The TypeScript types in values/stored-values.ts are generated from here
 * (npm run generate -- events): a name is the name of the type, a description its documentation.
 */

/** The names of the generated types. */
export const typeNames: z.core.$ZodRegistry<{ id: string }> = z.registry();

/** Gives a schema the name of its type and says what it is. */
export function named<Schema extends z.ZodType>(id: string, description: string, schema: Schema): Schema {
  const described = schema.describe(description);
  typeNames.add(described, { id });
  return described;
}

export const count: z.ZodNumber = z.number().int().nonnegative();
export const record: z.ZodRecord<z.ZodString, z.ZodUnknown> = z.record(z.string(), z.unknown());

const flag = z.boolean().optional();
const some = count.optional();

const seal = named(
  'Seal',
  'Data that a provider wants back byte for byte and no other program can read, such as a signature. It is sent only to the provider named here.',
  z.looseObject({ provider: z.string(), data: named('Json', '', z.json()) }),
);

const text = named(
  'TextPart',
  'Text, never empty in a valid history.',
  z.looseObject({ type: z.literal('text'), text: z.string() }),
);
const fileFields = {
  mediaType: z.string().describe('Says what it is, such as `image/png` or `application/pdf`.'),
  data: z.string().describe('Base64 without a data-URL prefix.'),
  name: z.string().optional(),
};
const file = named(
  'FilePart',
  'A file: an image, a document, a recording.',
  z.looseObject({ type: z.literal('file'), ...fileFields }),
);
/** Read, but never written, so that no type is generated: values/file-part.ts turns them into files. */
const earlierFiles = (['image', 'document'] as const).map((type) =>
  z.looseObject({ type: z.literal(type), ...fileFields }).meta({ deprecated: true }),
);
const reasoning = named(
  'ReasoningPart',
  "The model's thinking. Text may be empty when the provider shows none and only the seal counts.",
  z.looseObject({ type: z.literal('reasoning'), text: z.string(), seal: seal.optional() }),
);
const providerData = named(
  'ProviderDataPart',
  "A part of the provider's own that must stay in its place, though it has no neutral meaning.",
  z.looseObject({ type: z.literal('opaque'), seal }),
);
const toolCall = named(
  'ToolCallPart',
  "The model's request to run a tool.",
  z.looseObject({
    type: z.literal('tool_call'),
    id: z
      .string()
      .describe(
        "The provider's id: it ties the result to the call on the wire and may repeat between turns.",
      ),
    toolName: z.string(),
    arguments: record,
    problem: z
      .string()
      .optional()
      .describe('Why the arguments cannot be used. A call with a problem is never run.'),
    seal: seal.optional(),
  }),
);

const userPart = named(
  'UserPart',
  'A piece of what the user says.',
  z.discriminatedUnion('type', [text, file, ...earlierFiles]),
);
const assistantPart = named(
  'AssistantPart',
  'A piece of what the model answers.',
  z.discriminatedUnion('type', [text, reasoning, providerData, toolCall]),
);
const toolResultPart = named(
  'ToolResultPart',
  'A piece of what a tool returns.',
  z.discriminatedUnion('type', [text, file, ...earlierFiles]),
);

export const userContent: z.ZodType = z.array(userPart);
export const assistantContent: z.ZodType = z.array(assistantPart);
export const toolResultContent: z.ZodType = z.array(toolResultPart);

export const message: z.ZodType = named(
  'Message',
  'One message of a conversation. Messages are immutable: providers cache what they made of one by its identity, so a changed message must be a new object.',
  z.discriminatedUnion('role', [
    named(
      'UserMessage',
      'What the user said, or what replaces it: steering, a summary.',
      z.looseObject({ role: z.literal('user'), content: z.array(userPart) }),
    ),
    named(
      'AssistantMessage',
      'One answer of the model, in the order in which it gave its pieces.',
      z.looseObject({ role: z.literal('assistant'), content: z.array(assistantPart) }),
    ),
    named(
      'ToolResultMessage',
      'The result of one call. Each call of an answer has exactly one before the next message.',
      z.looseObject({
        role: z.literal('tool_result'),
        toolCallId: z.string(),
        content: z.array(toolResultPart),
        isError: flag,
        notRun: flag.describe(
          'True when the call never ran: the result was written only to keep the history valid.',
        ),
      }),
    ),
  ]),
);

export const usage: z.ZodType = named(
  'Usage',
  'Tokens as the provider counted them. Only what a failed attempt used may be estimated, and then says so.\n\n`inputTokens` is all input, cached tokens included; `outputTokens` is all output, reasoning included. The other fields say how much of those two was cached or reasoning; they are absent when the provider does not report them. The same numbers mean the same on every provider.',
  z.looseObject({
    inputTokens: count,
    outputTokens: count,
    cacheReadTokens: some.describe("Of the input, read from the provider's prompt cache."),
    cacheWriteTokens: some.describe("Of the input, written to the provider's prompt cache."),
    cacheWriteLongTokens: some.describe(
      "Of those written, what is kept for the longer of the provider's lifetimes, at a higher price.",
    ),
    reasoningTokens: some.describe('Of the output, spent on reasoning.'),
    estimated: flag.describe(
      'True when part was never reported and is estimated from what was sent and what arrived.',
    ),
  }),
);

const errorKind = named(
  'ErrorKind',
  "Why something failed, by cause and not by vendor: `agent` the model's service failed, `tool` a tool failed, `timeout` a deadline passed, `rate_limit` the service asked for slower requests, `network` the connection failed or the stream was cut or garbled, `invalid` the request or configuration is wrong, `auth` the credentials were refused, `aborted` the caller cancelled, `limit` a limit of the run was reached.",
  z.enum(['agent', 'tool', 'timeout', 'rate_limit', 'network', 'invalid', 'auth', 'aborted', 'limit']),
);

export const error: z.ZodType = named(
  'ErrorData',
  'The plain data of an {@link AgentError}: what is stored in events and sent to other processes.',
  z.looseObject({
    kind: errorKind,
    message: z.string(),
    code: z
      .string()
      .optional()
      .describe(
        'A finer, stable word for programs, such as `busy` or `turns`: docs/errors.md has those of Cobbler.',
      ),
    retryable: flag.describe('Whether trying again unchanged may help.'),
    retryAfterMs: z.number().optional().describe('How long the service asked to wait, in milliseconds.'),
    status: z.number().optional().describe('HTTP status, where there was one.'),
    provider: z.string().optional(),
    requestId: z.string().optional().describe("The service's own id of the failed request."),
    attempts: some.describe('Requests made, the failed one included.'),
    wasted: usage.optional().describe('Tokens that failed attempts used up.'),
    cause: named(
      'CauseSummary',
      'A plain summary of an underlying error: vendor errors hold headers and requests, so none is kept whole.',
      z.looseObject({ name: z.string(), message: z.string(), code: z.string().optional() }),
    ).optional(),
  }),
);

const usd = z.number().optional();

export const metrics: z.ZodType = named(
  'ExecutionMetrics',
  'What a run used, counted once.',
  z.looseObject({
    totalInputTokens: count,
    totalOutputTokens: count,
    invocations: count.describe('Answers of the model.'),
    cacheReadTokens: count.describe('Of the input, read from the prompt cache.'),
    cacheWriteTokens: count.describe('Of the input, written to the prompt cache.'),
    reasoningTokens: count.describe('Of the output, spent on reasoning.'),
    attempts: count.describe('Requests sent, failed ones included.'),
    toolCalls: count.describe('Tools that ran.'),
    wasted: usage.describe('Tokens that failed attempts used; not part of the totals.'),
    usd: usd.describe('US dollars, or absent when a price is unknown.'),
    durationMs: z.number().describe('Time since the run began, in milliseconds.'),
    modelMs: z.number().describe('Of that, waiting for the model.'),
    toolMs: z.number().describe('Of that, running tools; tools that run together are added up.'),
    waitedMs: z.number().describe('Of that, waiting for people.'),
  }),
);

export const requestUsage: z.ZodType = named(
  'RequestUsage',
  'One answer of the model, as metrics count it.',
  z.looseObject({
    usage,
    wasted: usage,
    attempts: count,
    durationMs: z.number(),
    usd,
    answers: some.describe('How many answers these counts are the sum of. Default 1.'),
  }),
);

export const limitName: z.ZodType = named(
  'LimitName',
  'Which limit ended a run.',
  z.enum(['turns', 'toolCalls', 'tokens', 'usd', 'no_progress']),
);

export const stopReason: z.ZodType = named(
  'StopReason',
  'Why the model stopped. Only a normal end of turn is `complete`; a reason that is not known is `unknown`. `pause` asks to be continued; `context_full` means that the conversation no longer fits.',
  z.enum(['complete', 'tool_use', 'max_tokens', 'refusal', 'pause', 'context_full', 'unknown']),
);

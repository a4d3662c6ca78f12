import { z } from 'zod';

/*
 * The values that events consist of. `npm run generate -- events` generates the TypeScript types in values/stored-values.ts
 * from them: a name becomes the name of the type, a description its documentation.
 */

/** The names of the generated types. */
export const typeNames: z.core.$ZodRegistry<{ id: string }> = z.registry();

/** Sets the type name and the description of a schema. */
export function withTypeName<Schema extends z.ZodType>(
  id: string,
  description: string,
  schema: Schema,
): Schema {
  const described = schema.describe(description);
  typeNames.add(described, { id });
  return described;
}

export const count: z.ZodNumber = z.number().int().nonnegative();
export const record: z.ZodRecord<z.ZodString, z.ZodUnknown> = z.record(z.string(), z.unknown());

const flag = z.boolean().optional();
const some = count.optional();

const seal = withTypeName(
  'Seal',
  'Data, such as a signature, that must be returned to a provider byte for byte. It has no meaning for other programs, and is sent only to the provider named here.',
  z.looseObject({ provider: z.string(), data: withTypeName('Json', '', z.json()) }),
);

const text = withTypeName(
  'TextPart',
  'Text, never empty in a valid history.',
  z.looseObject({ type: z.literal('text'), text: z.string() }),
);
const fileFields = {
  mediaType: z.string().describe('The type of the file, such as `image/png` or `application/pdf`.'),
  data: z.string().describe('Base64 without a data-URL prefix.'),
  name: z.string().optional(),
};
const file = withTypeName(
  'FilePart',
  'A file: an image, a document or an audio recording.',
  z.looseObject({ type: z.literal('file'), ...fileFields }),
);
/** Read but never written, so no type is generated: values/file-part.ts converts them to files. */
const earlierFiles = (['image', 'document'] as const).map((type) =>
  z.looseObject({ type: z.literal(type), ...fileFields }).meta({ deprecated: true }),
);
const reasoning = withTypeName(
  'ReasoningPart',
  "The model's thinking. The text can be empty if the provider does not show it and returns only a signature or encrypted data.",
  z.looseObject({ type: z.literal('reasoning'), text: z.string(), seal: seal.optional() }),
);
const source = withTypeName(
  'Source',
  'A web page. Its address and title come from a search: display them only as text, and link only to http and https.',
  z.looseObject({ url: z.string(), title: z.string().optional() }),
);
const providerData = withTypeName(
  'ProviderDataPart',
  'A provider-specific part that has no meaning for other providers and must keep its position.',
  z.looseObject({
    type: z.literal('opaque'),
    seal,
    searched: z.string().optional().describe('The query of a web search that the provider ran.'),
    problem: z.string().optional().describe('The reason why a web search failed.'),
    sources: z.array(source).optional().describe('The web pages that the text before this part cites.'),
  }),
);
const toolCall = withTypeName(
  'ToolCallPart',
  "The model's request to run a tool.",
  z.looseObject({
    type: z.literal('tool_call'),
    id: z
      .string()
      .describe(
        "The provider's id. It connects the result to the call in requests, and may occur again in a later turn.",
      ),
    toolName: z.string(),
    arguments: record,
    problem: z
      .string()
      .optional()
      .describe('The reason why the arguments are unusable. A call with a problem is never run.'),
    seal: seal.optional(),
  }),
);

const userPart = withTypeName(
  'UserPart',
  'A part of a user message.',
  z.discriminatedUnion('type', [text, file, ...earlierFiles]),
);
const assistantPart = withTypeName(
  'AssistantPart',
  'A part of a model response.',
  z.discriminatedUnion('type', [text, reasoning, providerData, toolCall]),
);
const toolResultPart = withTypeName(
  'ToolResultPart',
  'A part of a tool result.',
  z.discriminatedUnion('type', [text, file, ...earlierFiles]),
);

export const userContent: z.ZodType = z.array(userPart);
export const assistantContent: z.ZodType = z.array(assistantPart);
export const toolResultContent: z.ZodType = z.array(toolResultPart);

export const message: z.ZodType = withTypeName(
  'Message',
  'One message of a conversation. Messages are immutable: providers cache converted messages by identity, so a changed message must be a new object.',
  z.discriminatedUnion('role', [
    withTypeName(
      'UserMessage',
      'A message from the user, or one with the user role, such as a summary.',
      z.looseObject({ role: z.literal('user'), content: z.array(userPart) }),
    ),
    withTypeName(
      'AssistantMessage',
      'One model response, with its parts in the order in which they arrived.',
      z.looseObject({ role: z.literal('assistant'), content: z.array(assistantPart) }),
    ),
    withTypeName(
      'ToolResultMessage',
      'The result of one call. Each call in a response gets exactly one result before the next message.',
      z.looseObject({
        role: z.literal('tool_result'),
        toolCallId: z.string(),
        content: z.array(toolResultPart),
        isError: flag,
        notRun: flag.describe(
          'True if the call never ran: the result was written only to keep the history valid.',
        ),
      }),
    ),
  ]),
);

export const usage: z.ZodType = withTypeName(
  'Usage',
  'Tokens as counted by the provider. The counts for a failed attempt may be estimates, and `estimated` is then true; no other counts are estimated.\n\n`inputTokens` is all input, cached tokens included; `outputTokens` is all output, reasoning included. The other fields are parts of these two, and are absent if the provider does not report them. The numbers have the same meaning for every provider.',
  z.looseObject({
    inputTokens: count,
    outputTokens: count,
    cacheReadTokens: some.describe("Input tokens read from the provider's prompt cache."),
    cacheWriteTokens: some.describe("Input tokens written to the provider's prompt cache."),
    cacheWriteLongTokens: some.describe(
      "The part of `cacheWriteTokens` written for the longer of the provider's cache lifetimes, at a higher price.",
    ),
    reasoningTokens: some.describe('Output tokens spent on reasoning.'),
    searches: some.describe('Web searches that the provider ran and charges separately.'),
    estimated: flag.describe('True if some counts are estimated, because they were not reported.'),
  }),
);

const errorKind = withTypeName(
  'ErrorKind',
  "The cause of a failure, independent of the vendor. `agent`: the model's service failed; `tool`: a tool failed; `timeout`: a deadline passed; `rate_limit`: the service received too many requests; `network`: the connection failed, or the stream was cut off or garbled; `invalid`: the request or configuration is wrong; `auth`: the credentials were rejected; `aborted`: the caller cancelled; `limit`: the run reached a limit.",
  z.enum(['agent', 'tool', 'timeout', 'rate_limit', 'network', 'invalid', 'auth', 'aborted', 'limit']),
);

const triedModel = withTypeName(
  'TriedModel',
  'A model that failed or was skipped. The request then went to the next model, if there was one.',
  z.looseObject({
    provider: z.string(),
    model: z.string(),
    kind: errorKind,
    code: z.string().optional(),
    message: z.string().describe('The reason why it failed.'),
    skipped: flag.describe('True if it was skipped because it had failed shortly before.'),
    attempts: some.describe('Number of requests sent to it.'),
    wasted: usage.optional().describe('Tokens that it used.'),
    usd: z
      .number()
      .optional()
      .describe(
        'Cost of `wasted` in US dollars. Events from earlier versions contain only the total for all models.',
      ),
    unpriced: flag.describe('True if the price of `wasted` is unknown.'),
  }),
);

export const tried: z.ZodType = z.array(triedModel).optional();

export const error: z.ZodType = withTypeName(
  'ErrorData',
  'The plain data of an {@link AgentError}: stored in events and sent to other processes.',
  z.looseObject({
    kind: errorKind,
    message: z.string(),
    code: z
      .string()
      .optional()
      .describe(
        "A more specific, stable identifier for programs, such as `busy` or `turns`. docs/errors.md lists Cobbler's codes.",
      ),
    retryable: flag.describe('True if the same request may succeed when retried.'),
    retryAfterMs: z.number().optional().describe('Delay requested by the service, in milliseconds.'),
    status: z.number().optional().describe('HTTP status, if any.'),
    provider: z.string().optional(),
    requestId: z.string().optional().describe("The service's id for the failed request."),
    attempts: some.describe('Number of requests sent, including the failed one.'),
    wasted: usage.optional().describe('Tokens used by failed attempts.'),
    tried: tried.describe('If the agent has several models: those that failed or were skipped, in order.'),
    cause: withTypeName(
      'CauseSummary',
      'A plain summary of an underlying error. Vendor errors contain headers and requests, so they are not stored in full.',
      z.looseObject({ name: z.string(), message: z.string(), code: z.string().optional() }),
    ).optional(),
  }),
);

const usd = z.number().optional();

export const metrics: z.ZodType = withTypeName(
  'ExecutionMetrics',
  'The usage of a run.',
  z.looseObject({
    totalInputTokens: count,
    totalOutputTokens: count,
    invocations: count.describe('Number of model responses.'),
    cacheReadTokens: count.describe('Input tokens read from the prompt cache.'),
    cacheWriteTokens: count.describe('Input tokens written to the prompt cache.'),
    reasoningTokens: count.describe('Output tokens spent on reasoning.'),
    attempts: count.describe('Number of requests sent, including failed ones.'),
    toolCalls: count.describe('Number of tools that ran.'),
    wasted: usage.describe('Tokens used by failed attempts; not part of the totals.'),
    usd: usd.describe('Cost in US dollars; absent if a price is unknown.'),
    durationMs: z.number().describe('Time since the run started, in milliseconds.'),
    modelMs: z.number().describe('Time spent waiting for the model, in milliseconds.'),
    toolMs: z
      .number()
      .describe('Time spent running tools, in milliseconds; the times of parallel tools are added up.'),
    waitedMs: z.number().describe('Time spent waiting for users, in milliseconds.'),
  }),
);

export const requestUsage: z.ZodType = withTypeName(
  'RequestUsage',
  'The usage for one model response, or the total for several responses.',
  z.looseObject({
    usage,
    wasted: usage,
    attempts: count,
    durationMs: z.number(),
    usd,
    answers: some.describe('Number of responses included in these counts. Default 1.'),
    tried: tried.describe(
      'The models that failed or were skipped before one responded, in order. `wasted`, `attempts` and `usd` include the amounts for these models.',
    ),
  }),
);

export const limitName: z.ZodType = withTypeName(
  'LimitName',
  'The limit that ended a run.',
  z.enum(['turns', 'toolCalls', 'tokens', 'usd', 'no_progress']),
);

export const stopReason: z.ZodType = withTypeName(
  'StopReason',
  'The reason why the model stopped. Only a normal end of turn is `complete`; an unrecognized reason is `unknown`. `pause` means that the response must be continued; `context_full` means that the conversation no longer fits.',
  z.enum(['complete', 'tool_use', 'max_tokens', 'refusal', 'pause', 'context_full', 'unknown']),
);

// Generated from events/schema.ts by `npm run generate -- events`. Change the schema, not this file.
import type { Json } from './json.ts';

/** A piece of what the user says. */
export type UserPart = TextPart | FilePart;

/** Text, never empty in a valid history. */
export interface TextPart {
  readonly type: 'text';
  readonly text: string;
}

/** A file: an image, a document, a recording. */
export interface FilePart {
  readonly type: 'file';
  /** Says what it is, such as `image/png` or `application/pdf`. */
  readonly mediaType: string;
  /** Base64 without a data-URL prefix. */
  readonly data: string;
  readonly name?: string;
}

/**
 * One message of a conversation. Messages are immutable: providers cache what they made of one by its
 * identity, so a changed message must be a new object.
 */
export type Message = UserMessage | AssistantMessage | ToolResultMessage;

/** What the user said, or what replaces it: steering, a summary. */
export interface UserMessage {
  readonly role: 'user';
  readonly content: readonly UserPart[];
}

/** One answer of the model, in the order in which it gave its pieces. */
export interface AssistantMessage {
  readonly role: 'assistant';
  readonly content: readonly AssistantPart[];
}

/** A piece of what the model answers. */
export type AssistantPart = TextPart | ReasoningPart | ProviderDataPart | ToolCallPart;

/** The model's thinking. Text may be empty when the provider shows none and only the seal counts. */
export interface ReasoningPart {
  readonly type: 'reasoning';
  readonly text: string;
  readonly seal?: Seal;
}

/**
 * Data that a provider wants back byte for byte and no other program can read, such as a signature. It is
 * sent only to the provider named here.
 */
export interface Seal {
  readonly provider: string;
  readonly data: Json;
}

/** A part of the provider's own that must stay in its place, though it has no neutral meaning. */
export interface ProviderDataPart {
  readonly type: 'opaque';
  readonly seal: Seal;
}

/** The model's request to run a tool. */
export interface ToolCallPart {
  readonly type: 'tool_call';
  /** The provider's id: it ties the result to the call on the wire and may repeat between turns. */
  readonly id: string;
  readonly toolName: string;
  readonly arguments: Record<string, unknown>;
  /** Why the arguments cannot be used. A call with a problem is never run. */
  readonly problem?: string;
  readonly seal?: Seal;
}

/** The result of one call. Each call of an answer has exactly one before the next message. */
export interface ToolResultMessage {
  readonly role: 'tool_result';
  readonly toolCallId: string;
  readonly content: readonly ToolResultPart[];
  readonly isError?: boolean;
  /** True when the call never ran: the result was written only to keep the history valid. */
  readonly notRun?: boolean;
}

/** A piece of what a tool returns. */
export type ToolResultPart = TextPart | FilePart;

/**
 * Tokens as the provider counted them. Only what a failed attempt used may be estimated, and then says so.
 *
 * `inputTokens` is all input, cached tokens included; `outputTokens` is all output, reasoning included. The
 * other fields say how much of those two was cached or reasoning; they are absent when the provider does not
 * report them. The same numbers mean the same on every provider.
 */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Of the input, read from the provider's prompt cache. */
  readonly cacheReadTokens?: number;
  /** Of the input, written to the provider's prompt cache. */
  readonly cacheWriteTokens?: number;
  /** Of those written, what is kept for the longer of the provider's lifetimes, at a higher price. */
  readonly cacheWriteLongTokens?: number;
  /** Of the output, spent on reasoning. */
  readonly reasoningTokens?: number;
  /** True when part was never reported and is estimated from what was sent and what arrived. */
  readonly estimated?: boolean;
}

/**
 * Why the model stopped. Only a normal end of turn is `complete`; a reason that is not known is `unknown`.
 * `pause` asks to be continued; `context_full` means that the conversation no longer fits.
 */
export type StopReason =
  | 'complete'
  | 'tool_use'
  | 'max_tokens'
  | 'refusal'
  | 'pause'
  | 'context_full'
  | 'unknown';

/** The plain data of an {@link AgentError}: what is stored in events and sent to other processes. */
export interface ErrorData {
  readonly kind: ErrorKind;
  readonly message: string;
  /** A finer, stable word for programs, such as `busy` or `turns`: docs/errors.md has those of Cobbler. */
  readonly code?: string;
  /** Whether trying again unchanged may help. */
  readonly retryable?: boolean;
  /** How long the service asked to wait, in milliseconds. */
  readonly retryAfterMs?: number;
  /** HTTP status, where there was one. */
  readonly status?: number;
  readonly provider?: string;
  /** The service's own id of the failed request. */
  readonly requestId?: string;
  /** Requests made, the failed one included. */
  readonly attempts?: number;
  /** Tokens that failed attempts used up. */
  readonly wasted?: Usage;
  readonly cause?: CauseSummary;
}

/**
 * Why something failed, by cause and not by vendor: `agent` the model's service failed, `tool` a tool failed,
 * `timeout` a deadline passed, `rate_limit` the service asked for slower requests, `network` the connection
 * failed or the stream was cut or garbled, `invalid` the request or configuration is wrong, `auth` the
 * credentials were refused, `aborted` the caller cancelled, `limit` a limit of the run was reached.
 */
export type ErrorKind =
  | 'agent'
  | 'tool'
  | 'timeout'
  | 'rate_limit'
  | 'network'
  | 'invalid'
  | 'auth'
  | 'aborted'
  | 'limit';

/** A plain summary of an underlying error: vendor errors hold headers and requests, so none is kept whole. */
export interface CauseSummary {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
}

/** One answer of the model, as metrics count it. */
export interface RequestUsage {
  readonly usage: Usage;
  readonly wasted: Usage;
  readonly attempts: number;
  readonly durationMs: number;
  readonly usd?: number;
  /** How many answers these counts are the sum of. Default 1. */
  readonly answers?: number;
}

/** Which limit ended a run. */
export type LimitName = 'turns' | 'toolCalls' | 'tokens' | 'usd' | 'no_progress';

/** What a run used, counted once. */
export interface ExecutionMetrics {
  readonly totalInputTokens: number;
  readonly totalOutputTokens: number;
  /** Answers of the model. */
  readonly invocations: number;
  /** Of the input, read from the prompt cache. */
  readonly cacheReadTokens: number;
  /** Of the input, written to the prompt cache. */
  readonly cacheWriteTokens: number;
  /** Of the output, spent on reasoning. */
  readonly reasoningTokens: number;
  /** Requests sent, failed ones included. */
  readonly attempts: number;
  /** Tools that ran. */
  readonly toolCalls: number;
  /** Tokens that failed attempts used; not part of the totals. */
  readonly wasted: Usage;
  /** US dollars, or absent when a price is unknown. */
  readonly usd?: number;
  /** Time since the run began, in milliseconds. */
  readonly durationMs: number;
  /** Of that, waiting for the model. */
  readonly modelMs: number;
  /** Of that, running tools; tools that run together are added up. */
  readonly toolMs: number;
  /** Of that, waiting for people. */
  readonly waitedMs: number;
}

// Generated from events/schema.ts by `npm run generate -- events`. Change the schema, not this file.
import type { Json } from './json.ts';

/** A part of a user message. */
export type UserPart = TextPart | FilePart;

/** Text, never empty in a valid history. */
export interface TextPart {
  readonly type: 'text';
  readonly text: string;
}

/** A file: an image, a document or an audio recording. */
export interface FilePart {
  readonly type: 'file';
  /** The type of the file, such as `image/png` or `application/pdf`. */
  readonly mediaType: string;
  /** Base64 without a data-URL prefix. */
  readonly data: string;
  readonly name?: string;
}

/**
 * One message of a conversation. Messages are immutable: providers cache converted messages by identity, so a changed
 * message must be a new object.
 */
export type Message = UserMessage | AssistantMessage | ToolResultMessage;

/** A message from the user, or one with the user role, such as a summary. */
export interface UserMessage {
  readonly role: 'user';
  readonly content: readonly UserPart[];
}

/** One model response, with its parts in the order in which they arrived. */
export interface AssistantMessage {
  readonly role: 'assistant';
  readonly content: readonly AssistantPart[];
}

/** A part of a model response. */
export type AssistantPart = TextPart | ReasoningPart | ProviderDataPart | ToolCallPart;

/**
 * The model's thinking. The text can be empty if the provider does not show it and returns only a signature or encrypted
 * data.
 */
export interface ReasoningPart {
  readonly type: 'reasoning';
  readonly text: string;
  readonly seal?: Seal;
}

/**
 * Data, such as a signature, that must be returned to a provider byte for byte. It has no meaning for other programs, and
 * is sent only to the provider named here.
 */
export interface Seal {
  readonly provider: string;
  readonly data: Json;
}

/** A provider-specific part that has no meaning for other providers and must keep its position. */
export interface ProviderDataPart {
  readonly type: 'opaque';
  readonly seal: Seal;
  /** The query of a web search that the provider ran. */
  readonly searched?: string;
  /** The reason why a web search failed. */
  readonly problem?: string;
  /** The web pages that the text before this part cites. */
  readonly sources?: readonly Source[];
}

/** A web page. Its address and title come from a search: display them only as text, and link only to http and https. */
export interface Source {
  readonly url: string;
  readonly title?: string;
}

/** The model's request to run a tool. */
export interface ToolCallPart {
  readonly type: 'tool_call';
  /** The provider's id. It connects the result to the call in requests, and may occur again in a later turn. */
  readonly id: string;
  readonly toolName: string;
  readonly arguments: Record<string, unknown>;
  /** The reason why the arguments are unusable. A call with a problem is never run. */
  readonly problem?: string;
  readonly seal?: Seal;
}

/** The result of one call. Each call in a response gets exactly one result before the next message. */
export interface ToolResultMessage {
  readonly role: 'tool_result';
  readonly toolCallId: string;
  readonly content: readonly ToolResultPart[];
  readonly isError?: boolean;
  /** True if the call never ran: the result was written only to keep the history valid. */
  readonly notRun?: boolean;
}

/** A part of a tool result. */
export type ToolResultPart = TextPart | FilePart;

/**
 * Tokens as counted by the provider. The counts for a failed attempt may be estimates, and `estimated` is then true; no
 * other counts are estimated.
 *
 * `inputTokens` is all input, cached tokens included; `outputTokens` is all output, reasoning included. The other fields
 * are parts of these two, and are absent if the provider does not report them. The numbers have the same meaning for every
 * provider.
 */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Input tokens read from the provider's prompt cache. */
  readonly cacheReadTokens?: number;
  /** Input tokens written to the provider's prompt cache. */
  readonly cacheWriteTokens?: number;
  /** The part of `cacheWriteTokens` written for the longer of the provider's cache lifetimes, at a higher price. */
  readonly cacheWriteLongTokens?: number;
  /** Output tokens spent on reasoning. */
  readonly reasoningTokens?: number;
  /** Web searches that the provider ran and charges separately. */
  readonly searches?: number;
  /** True if some counts are estimated, because they were not reported. */
  readonly estimated?: boolean;
}

/**
 * The reason why the model stopped. Only a normal end of turn is `complete`; an unrecognized reason is `unknown`. `pause`
 * means that the response must be continued; `context_full` means that the conversation no longer fits.
 */
export type StopReason =
  | 'complete'
  | 'tool_use'
  | 'max_tokens'
  | 'refusal'
  | 'pause'
  | 'context_full'
  | 'unknown';

/** A model that failed or was skipped. The request then went to the next model, if there was one. */
export interface TriedModel {
  readonly provider: string;
  readonly model: string;
  readonly kind: ErrorKind;
  readonly code?: string;
  /** The reason why it failed. */
  readonly message: string;
  /** True if it was skipped because it had failed shortly before. */
  readonly skipped?: boolean;
  /** Number of requests sent to it. */
  readonly attempts?: number;
  /** Tokens that it used. */
  readonly wasted?: Usage;
  /** Cost of `wasted` in US dollars. Events from earlier versions contain only the total for all models. */
  readonly usd?: number;
  /** True if the price of `wasted` is unknown. */
  readonly unpriced?: boolean;
}

/**
 * The cause of a failure, independent of the vendor. `agent`: the model's service failed; `tool`: a tool failed; `timeout`:
 * a deadline passed; `rate_limit`: the service received too many requests; `network`: the connection failed, or the stream
 * was cut off or garbled; `invalid`: the request or configuration is wrong; `auth`: the credentials were rejected;
 * `aborted`: the caller cancelled; `limit`: the run reached a limit.
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

/** The plain data of an {@link AgentError}: stored in events and sent to other processes. */
export interface ErrorData {
  readonly kind: ErrorKind;
  readonly message: string;
  /** A more specific, stable identifier for programs, such as `busy` or `turns`. docs/errors.md lists Cobbler's codes. */
  readonly code?: string;
  /** True if the same request may succeed when retried. */
  readonly retryable?: boolean;
  /** Delay requested by the service, in milliseconds. */
  readonly retryAfterMs?: number;
  /** HTTP status, if any. */
  readonly status?: number;
  readonly provider?: string;
  /** The service's id for the failed request. */
  readonly requestId?: string;
  /** Number of requests sent, including the failed one. */
  readonly attempts?: number;
  /** Tokens used by failed attempts. */
  readonly wasted?: Usage;
  /** If the agent has several models: those that failed or were skipped, in order. */
  readonly tried?: readonly TriedModel[];
  readonly cause?: CauseSummary;
}

/** A plain summary of an underlying error. Vendor errors contain headers and requests, so they are not stored in full. */
export interface CauseSummary {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
}

/** A change that a call would make: its target, and the SHA-256 hashes of the content before and after it. */
export interface ChangeDigest {
  /** The target of the change; for a file, its real path relative to the workspace. */
  readonly target: string;
  /** Absent if the target does not exist. */
  readonly before?: string;
  /** Absent if the target is removed. */
  readonly after?: string;
}

/** A spending limit that leaves too little for the next request. */
export interface ReachedLimit {
  /** The limited quantity. */
  readonly amount: 'usd' | 'tokens' | 'requests';
  readonly max: number;
  /** The amount that had been used when the limit was reached. */
  readonly spent: number;
  /** The increase offered to the user. */
  readonly more: number;
  /** The name of the budget in its store. Absent for a limit that belongs to the run itself. */
  readonly budget?: string;
}

/** The usage for one model response, or the total for several responses. */
export interface RequestUsage {
  readonly usage: Usage;
  readonly wasted: Usage;
  readonly attempts: number;
  readonly durationMs: number;
  readonly usd?: number;
  /** Number of responses included in these counts. Default 1. */
  readonly answers?: number;
  /**
   * The models that failed or were skipped before one responded, in order. `wasted`, `attempts` and `usd` include the
   * amounts for these models.
   */
  readonly tried?: readonly TriedModel[];
}

/** The limit that ended a run. */
export type LimitName = 'turns' | 'toolCalls' | 'tokens' | 'usd' | 'no_progress';

/** The usage of a run. */
export interface ExecutionMetrics {
  readonly totalInputTokens: number;
  readonly totalOutputTokens: number;
  /** Number of model responses. */
  readonly invocations: number;
  /** Input tokens read from the prompt cache. */
  readonly cacheReadTokens: number;
  /** Input tokens written to the prompt cache. */
  readonly cacheWriteTokens: number;
  /** Output tokens spent on reasoning. */
  readonly reasoningTokens: number;
  /** Number of requests sent, including failed ones. */
  readonly attempts: number;
  /** Number of tools that ran. */
  readonly toolCalls: number;
  /** Tokens used by failed attempts; not part of the totals. */
  readonly wasted: Usage;
  /** Cost in US dollars; absent if a price is unknown. */
  readonly usd?: number;
  /** Time since the run started, in milliseconds. */
  readonly durationMs: number;
  /** Time spent waiting for the model, in milliseconds. */
  readonly modelMs: number;
  /** Time spent running tools, in milliseconds; the times of parallel tools are added up. */
  readonly toolMs: number;
  /** Time spent waiting for users, in milliseconds. */
  readonly waitedMs: number;
}

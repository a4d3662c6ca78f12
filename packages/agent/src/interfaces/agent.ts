import type { ErrorData } from '../values/errors.ts';
import type { JsonObject } from '../values/json.ts';
import type { AssistantMessage, Message } from '../values/message.ts';
import type { StopReason } from '../values/stored-values.ts';
import type { Usage } from '../values/usage.ts';
import type { Tool } from './tool.ts';

export type { StopReason } from '../values/stored-values.ts';

/** A model's request to run a tool, as the executor sees it. */
export interface ToolCall {
  readonly id: string;
  readonly toolName: string;
  readonly arguments: Record<string, unknown>;
  /** Why the arguments cannot be used; such a call is answered with this text and never run. */
  readonly problem?: string;
}

/** The shape that the final answer must have. */
export interface OutputShape {
  /** A short identifier, letters, digits, `_` and `-`. */
  readonly name: string;
  readonly schema: JsonObject;
}

/** How one answer is to be made. */
export interface RequestConfig {
  /** Most tokens of one answer. 0 or absent: the agent's default. */
  readonly maxTokens?: number;
  /** Sampling temperature. -1 or absent: the agent's default. */
  readonly temperature?: number;
  /** `none` keeps the tools declared but forbids calling them: a closing call. Default `auto`. */
  readonly toolChoice?: 'auto' | 'none';
  /** How hard a reasoning model thinks. Ignored by models that do not reason. */
  readonly effort?: 'low' | 'medium' | 'high';
  /**
   * False: nothing is written to the provider's prompt cache, because no other request will begin like this
   * one. Writing costs more than plain input and pays only with the next request. Default true.
   */
  readonly cache?: boolean;
}

/** One request to one model: everything it needs, since an agent remembers nothing. */
export interface ModelRequest {
  readonly messages: readonly Message[];
  readonly tools: readonly Tool[];
  /** Stable instructions first; parts that change (a date, memories) last, so that the prefix stays cached. */
  readonly system?: string | readonly string[];
  readonly config?: RequestConfig;
  readonly output?: OutputShape;
}

/** One complete answer. */
export interface ModelResponse {
  /** The text of the answer, all text blocks joined. */
  readonly content: string;
  readonly toolCalls: readonly ToolCall[];
  readonly usage: Usage;
  readonly stopReason: StopReason;
  /** The answer as a message, provider-opaque parts included: append it to the history unchanged. */
  readonly message: AssistantMessage;
  /** The model that answered, as the provider names it. */
  readonly model: string;
  /** Requests made for this answer, failed ones included. */
  readonly attempts: number;
  /** Tokens used by attempts that failed; never part of `usage`. */
  readonly wasted: Usage;
  /** The service's id of the request that succeeded. */
  readonly requestId?: string;
  /** Rate-limit headers of the answer, lower-case names, as sent. */
  readonly rateLimits?: Readonly<Record<string, string>>;
}

/** What a provider can do. Asking for what is missing fails as `invalid` before a byte is sent. */
export interface Capabilities {
  /**
   * Media types of the files that it accepts in prompts and tool results, such as `image/png`; `text/*` means every type
   * that begins so. Empty: none.
   */
  readonly files: readonly string[];
  /** Whether reasoning is shown and can be sent back. */
  readonly reasoning: boolean;
  readonly parallelCalls: boolean;
  /** `native`: the provider enforces a schema; `tool`: the executor asks for it through a tool. */
  readonly output: 'native' | 'tool' | 'none';
  /** Whether `temperature` is understood. */
  readonly sampling: boolean;
  /** Whether the provider reports prompt-cache tokens. */
  readonly cacheUsage: boolean;
  /** Size of the context window in tokens, when known. */
  readonly contextTokens?: number;
}

/**
 * What an agent tells while it works, in wire order. Deltas are for showing; a whole block follows its
 * deltas. After `retry`, everything emitted since the request began is void.
 */
export type AgentEvent =
  | { readonly type: 'text_delta'; readonly index: number; readonly text: string }
  | { readonly type: 'reasoning_delta'; readonly index: number; readonly text: string }
  | { readonly type: 'tool_input_delta'; readonly index: number; readonly json: string }
  | { readonly type: 'text'; readonly index: number; readonly text: string }
  | { readonly type: 'reasoning'; readonly index: number; readonly text: string }
  | { readonly type: 'tool_call'; readonly index: number; readonly call: ToolCall }
  | {
      readonly type: 'retry';
      readonly attempt: number;
      readonly error: ErrorData;
      readonly delayMs: number;
      /** For how long requests are still made after the pause, in milliseconds; absent where their number is the limit. */
      readonly leftMs?: number;
    }
  | CacheBreak;

/**
 * The request does not begin like the one before it in the same conversation, so that what the provider kept
 * of that one is of no use from here on. Told before the request is sent, once for each change, never for a
 * conversation that only grew. When several layers changed it names the first, which takes the others along.
 */
export interface CacheBreak {
  readonly type: 'cache_break';
  /** In the order in which services read them: the tools declared, the instructions, the messages. */
  readonly layer: 'tools' | 'system' | 'history';
  /** Index of the first tool, instruction or message that is not what it was. */
  readonly block: number;
  /** About how many tokens sent before are read anew. */
  readonly tokens: number;
}

/** What goes along with one call of an agent: how it is stopped, and who hears of it meanwhile. */
export interface RequestContext {
  /** Aborting it makes `run` reject promptly with kind `aborted`. */
  readonly signal?: AbortSignal;
  /** Called synchronously. What it throws is ignored. */
  readonly emit?: (event: AgentEvent) => void;
  /**
   * Asked before another attempt, with what the failed ones have used all in all. False gives up with the
   * last error: the budget may not cover another attempt.
   */
  readonly mayRetry?: (wasted: Usage) => boolean;
}

/**
 * One model behind one uniform call. Stateless: two calls share nothing, and the loop over tool calls is
 * the caller's. Providers implement it; most do so through `createAgent` in `@cobbler/agent/provider`.
 */
export interface Agent {
  readonly provider: string;
  readonly model: string;
  readonly capabilities: Capabilities;
  /**
   * Maximum tokens of a response when the request names none. Absent: the service decides. A limit on tokens or
   * money holds back this much before a request.
   */
  readonly maxTokens?: number;
  /** Resolves with one complete response; rejects only with {@link AgentError}. Retries are its own affair. */
  run(request: ModelRequest, context?: RequestContext): Promise<ModelResponse>;
}

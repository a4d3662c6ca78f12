import type { ErrorData } from '../values/errors.ts';
import type { Reader } from '../values/input.ts';
import { amount, callable, flag, listOf, oneOf, record, text } from '../values/input.ts';
import type { JsonObject } from '../values/json.ts';
import type { LazyAbortSignal } from '../values/lazy-abort-signal.ts';
import type { AssistantMessage, Message } from '../values/message.ts';
import type { StopReason, TriedModel } from '../values/stored-values.ts';
import type { Usage } from '../values/usage.ts';
import { ownRuns } from './own-runs.ts';
import type { Tool } from './tool.ts';

export type { StopReason, TriedModel } from '../values/stored-values.ts';

/** A model's request to run a tool, as the executor sees it. */
export interface ToolCall {
  readonly id: string;
  readonly toolName: string;
  readonly arguments: Record<string, unknown>;
  /** The reason why the arguments are unusable. Such a call gets this text as its result and is never run. */
  readonly problem?: string;
}

/** The required shape of the final response. */
export interface OutputShape {
  /** A short identifier of letters, digits, `_` and `-`. */
  readonly name: string;
  readonly schema: JsonObject;
}

/** How much a model reasons. */
export type Effort = 'low' | 'medium' | 'high' | 'max';

export const readEffort: Reader<Effort> = oneOf('low', 'medium', 'high', 'max');

/** Options of one request. */
export interface RequestConfig {
  /** Maximum number of tokens in the response. 0 or absent: the agent's default. */
  readonly maxTokens?: number;
  /** Sampling temperature. -1 or absent: the agent's default. */
  readonly temperature?: number;
  /** `none` keeps the tools declared but forbids calling them, for a closing response. Default `auto`. */
  readonly toolChoice?: 'auto' | 'none';
  /** Reasoning effort. Ignored by models that do not reason. Absent: the agent's default. */
  readonly effort?: Effort;
  /**
   * False: nothing is written to the provider's prompt cache, because no later request starts like this one. Writing
   * costs more than plain input and pays off only with the next request. Default true.
   */
  readonly cache?: boolean;
  /** `summary`: the request summarizes a conversation. For agents that choose a model; services do not receive it. */
  readonly purpose?: 'summary';
}

/** One request to one model. It contains everything the model needs, because an agent keeps no history. */
export interface ModelRequest {
  readonly messages: readonly Message[];
  readonly tools: readonly Tool[];
  /** Stable instructions first; parts that change (a date, memories) last, so that the prefix stays cached. */
  readonly system?: string | readonly string[];
  readonly config?: RequestConfig;
  readonly output?: OutputShape;
}

/** A model and its provider. */
export interface ModelRef {
  readonly provider: string;
  readonly model: string;
}

/** One complete response of a model. */
export interface ModelResponse {
  /** The text of the response, with all text blocks joined. */
  readonly content: string;
  readonly toolCalls: readonly ToolCall[];
  readonly usage: Usage;
  readonly stopReason: StopReason;
  /** The response as a message, including provider-specific parts. Append it to the history unchanged. */
  readonly message: AssistantMessage;
  /** The model that responded, as the provider names it. */
  readonly model: string;
  /** Number of requests sent for this response, including failed ones. */
  readonly attempts: number;
  /** Tokens used by failed attempts; never part of `usage`. */
  readonly wasted: Usage;
  /** The service's id of the request that succeeded. */
  readonly requestId?: string;
  /** Rate-limit headers of the response as sent, with lower-case names. */
  readonly rateLimits?: Readonly<Record<string, string>>;
  /** The model that was asked, if it is not that of the agent. It determines the price. */
  readonly servedBy?: ModelRef;
  /**
   * The models that failed or were skipped before one responded, in order. `wasted` and `attempts` include the amounts for
   * these models.
   */
  readonly tried?: readonly TriedModel[];
}

/** The features that a provider supports. A request for any other feature fails as `invalid` before anything is sent. */
export interface Capabilities {
  /**
   * Media types of the files that it accepts in prompts and tool results, such as `image/png`. `text/*` matches every
   * type that starts with `text/`. Empty: none.
   */
  readonly files: readonly string[];
  /** True if reasoning is shown and can be sent back. */
  readonly reasoning: boolean;
  readonly parallelCalls: boolean;
  /** `native`: the provider enforces a schema; `tool`: the executor requests the output through a tool. */
  readonly output: 'native' | 'tool' | 'none';
  /** True if `temperature` is supported. */
  readonly sampling: boolean;
  /** True if the provider reports prompt-cache tokens. */
  readonly cacheUsage: boolean;
  /** Size of the context window in tokens, if known. */
  readonly contextTokens?: number;
}

/**
 * A live event of a request, in the order of the response stream. Deltas are for display; the complete block follows
 * its deltas. After `retry`, everything emitted since the request started is void.
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
      /** Time left for retries after the delay, in milliseconds. Absent if the number of retries is limited instead. */
      readonly leftMs?: number;
      /** The model that is asked next, if it is another one. */
      readonly next?: ModelRef;
    }
  | CacheBreak;

/**
 * Reports that the request does not start like the previous one in the same conversation, so the provider's cache
 * cannot be used beyond that point. Emitted before the request is sent, once for each change, and never for a
 * conversation that only grew. If several layers changed, it names the first, which invalidates the others too.
 *
 * A run that continues a session, perhaps in another process, or with another model or other tools, does not know the previous
 * request. It emits the event after a response that read less from the cache than the previous request had put there.
 */
export interface CacheBreak {
  readonly type: 'cache_break';
  /** The layer that changed. Services read them in this order: tools, instructions, messages. */
  readonly layer: 'tools' | 'system' | 'history';
  /** Index of the first tool, instruction or message that changed. */
  readonly block: number;
  /** Approximate number of tokens sent before that are processed again. */
  readonly tokens: number;
  /** Extra cost of these tokens, compared with reading them from the cache, in US dollars. Absent if unknown. */
  readonly usd?: number;
  /**
   * The model of the previous request, if a run continues the session: `block` is then 0, and `layer` is `history` if a part was
   * read from the cache, else `tools`.
   */
  readonly previous?: ModelRef;
}

/** Options for one request to an agent: cancellation, live events and retries. */
export interface RequestContext {
  /** Aborting it makes `run` reject promptly with kind `aborted`. */
  readonly signal?: AbortSignal;
  /** Called synchronously. Errors that it throws are ignored. */
  readonly emit?: (event: AgentEvent) => void;
  /**
   * Called before a retry with the total usage of the failed attempts. If it returns false, the request fails with
   * the last error, because the budget may not cover another attempt.
   */
  readonly mayRetry?: (wasted: Usage) => boolean | Promise<boolean>;
}

/**
 * One model behind a uniform interface. Stateless: two requests share nothing, and the caller runs the loop over tool
 * calls. Providers implement it; most do so through `createAgent` in `@cobbler/agent/provider`.
 */
export interface Agent {
  readonly provider: string;
  readonly model: string;
  readonly capabilities: Capabilities;
  /**
   * Maximum number of tokens in a response if the request sets none. Absent: the service decides. A limit on tokens
   * or money reserves this amount before a request.
   */
  readonly maxTokens?: number;
  /**
   * The models that a request may use, if there are several. A limit on money reserves the price of the most
   * expensive one. Absent: only `model`.
   */
  readonly candidates?: readonly ModelRef[];
  /** Resolves with one complete response and rejects only with {@link AgentError}. Handles retries itself. */
  run(request: ModelRequest, context?: RequestContext): Promise<ModelResponse>;
}

/** Reads a model and its provider. */
export const readModelRef: Reader<ModelRef> = record<ModelRef>({ provider: text, model: text }, [
  'provider',
  'model',
]);

/** The sender of a request, which learns its outcome from a call instead of a promise. */
export interface RequestOwner {
  /** Requests to stop. Undefined if nothing can. */
  readonly stop: LazyAbortSignal | undefined;
  readonly emit: RequestContext['emit'] | undefined;
  readonly mayRetry: RequestContext['mayRetry'] | undefined;
  /** Receives a cache break instead of `emit`, which is called for every delta and so must do nothing else. */
  report?(event: CacheBreak): void;
  resolve(response: ModelResponse): void;
  reject(error: unknown): void;
}

/** Like the `run` of an agent, without a promise. Never throws. Emits nothing once it is asked to stop. */
export type OwnRun = (request: ModelRequest, owner: RequestOwner) => void;

const readRun: Reader<Agent['run']> = (value, owner) => {
  const run: Agent['run'] = callable(value, owner);
  const own = ownRuns.get(value as object);
  if (own) ownRuns.set(run, own);
  return run;
};

/** Reads an agent. Later changes to its capabilities or its function have no effect. */
export const readAgent: Reader<Agent> = record<Agent>(
  {
    provider: text,
    model: text,
    capabilities: record<Capabilities>({
      files: listOf(text),
      reasoning: flag,
      parallelCalls: flag,
      output: oneOf('native', 'tool', 'none'),
      sampling: flag,
      cacheUsage: flag,
      contextTokens: amount,
    }),
    maxTokens: amount,
    candidates: listOf(readModelRef),
    run: readRun,
  },
  ['provider', 'model', 'capabilities', 'run'],
  'an agent returned by a provider function',
);

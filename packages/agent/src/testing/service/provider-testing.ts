import type { StopReason } from '../../interfaces/agent.ts';
import type { Usage } from '../../values/usage.ts';

/** A block of a scripted response. */
export type ScriptBlock =
  | { readonly type: 'text'; readonly text: string }
  /** `seal` is the signature that the service would add to the reasoning. */
  | { readonly type: 'reasoning'; readonly text: string; readonly seal?: string }
  /** `input` is the raw text of the arguments, which may be invalid JSON. */
  | { readonly type: 'call'; readonly id: string; readonly name: string; readonly input: string };

/** One model response in a provider-independent form. */
export interface ScriptAnswer {
  readonly blocks: readonly ScriptBlock[];
  readonly stop: StopReason;
  readonly usage: Usage;
  readonly model: string;
}

/** A step in the stream of a response. `at` is the index of a block. */
export type Step =
  | { readonly type: 'open'; readonly at: number }
  | { readonly type: 'delta'; readonly at: number; readonly text: string }
  /** The seal of a reasoning block, sent before its close. */
  | { readonly type: 'seal'; readonly at: number }
  | { readonly type: 'close'; readonly at: number }
  /** The remaining data: stop reason, usage, end. */
  | { readonly type: 'end' };

/** A failure of a service, as its provider must report it. */
export interface ScriptFault {
  readonly kind: 'busy' | 'rate_limit' | 'agent' | 'invalid' | 'auth' | 'not_found' | 'too_long';
  readonly message: string;
  readonly retryAfterMs?: number;
}

/** An HTTP response that is not a stream. */
export interface WireError {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A payload as it is sent: text, or the bytes of a binary frame. */
export type Frame = string | Uint8Array;

/** A part of a parsed request, in a provider-independent form. */
export type ReadPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'file'; readonly mediaType: string; readonly data: string }
  | { readonly type: 'reasoning'; readonly text: string; readonly seal?: string }
  | { readonly type: 'call'; readonly id: string; readonly name: string; readonly input: unknown }
  /** `text` contains all texts of the result, concatenated; its files follow as separate parts. */
  | { readonly type: 'result'; readonly id: string; readonly text: string; readonly isError: boolean };

/** A parsed request. */
export interface ReadRequest {
  readonly model: string;
  /** All instructions joined by blank lines. */
  readonly system: string;
  readonly turns: readonly { readonly side: 'user' | 'assistant'; readonly parts: readonly ReadPart[] }[];
  readonly tools: readonly {
    readonly name: string;
    readonly description: string;
    readonly parameters: unknown;
  }[];
  readonly toolChoice: 'auto' | 'none';
  readonly maxTokens?: number;
  readonly temperature?: number;
  readonly output?: { readonly name: string; readonly schema: unknown };
}

/** A request as it arrived. */
export interface SentRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  readonly body: string;
}

/** What a service requires of a request besides its body. */
export interface RequestRules {
  /** The path after the base URL, such as `/v1/messages`. In `/models/{model}/chat`, the model is not in the body. */
  readonly path: string;
  /** Required query parameters. */
  readonly query?: Readonly<Record<string, string>>;
  /** Required headers, such as the version of the API. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The header with the key, and the text before the key, such as `Bearer `. Undefined if requests contain no key. */
  readonly key?: { readonly header: string; readonly prefix?: string };
  /** Returns whether a signature is valid, for a service that clients prove their key to without sending it. */
  readonly isSigned?: (request: SentRequest, key: string) => boolean;
  /** Default: `application/json`. */
  readonly contentType?: string;
}

/** Features that a wire may not support. Each one disables the contract cases that need it. */
export type UnsupportedFeature =
  | 'reasoning'
  | 'seal'
  | 'sampling'
  | 'native-output'
  /** The counts of tokens read from and written to a cache. */
  | 'cache-usage'
  /** The count of tokens written to a cache. */
  | 'cache-write-usage'
  /** Responses do not contain the model name; the requested one is assumed. */
  | 'model-name'
  | 'reasoning-usage'
  | 'interleaving'
  /** A call arrives in one frame, with all of its arguments as one JSON object. */
  | 'argument-chunks'
  | 'error-results'
  | 'in-stream-fault'
  | 'pause'
  | 'context-full-stop'
  /**
   * No content is repeated as a whole when a block or the response ends, and frames have no numbers, so that a lost
   * chunk in the middle of a block cannot be noticed.
   */
  | 'whole-content'
  /** An error that says that the conversation exceeds the context window. */
  | 'too-long'
  /** An error that says that the model is unknown. */
  | 'not-found'
  /** Text with invalid characters: a checksum over the bytes rejects the frame that contains them. */
  | 'checked-text';

/**
 * The counterpart of a provider: it writes what the provider reads and reads what the provider writes. It is plain data
 * and pure functions, so that any server can use it.
 */
export interface ProviderTesting {
  readonly provider: string;
  /** Media type of a streamed response. */
  readonly contentType: string;
  /** Headers of a normal response, and what the agent should read from them. Default: none. */
  readonly head?: {
    readonly headers: Readonly<Record<string, string>>;
    readonly requestId?: string;
    readonly rateLimits?: Readonly<Record<string, string>>;
  };
  /** What the service requires of a request besides its body. */
  readonly request: RequestRules;
  /** Features that this wire does not support, each with the reason in one sentence. */
  readonly lacks: Partial<Readonly<Record<UnsupportedFeature, string>>>;
  /** Returns the payloads that start a response. */
  begin(answer: ScriptAnswer): readonly unknown[];
  /** Returns the payloads of one step, possibly none. */
  line(step: Step, answer: ScriptAnswer): readonly unknown[];
  /** Returns payloads that a provider must ignore: pings, and unknown kinds without data. */
  noise(): readonly unknown[];
  /** Returns payloads of unknown kinds with data. Each one makes a response invalid. */
  unknown(): readonly unknown[];
  /**
   * Returns true for a payload that the service never sends twice in one response, so that a repetition makes the
   * response invalid even if it changes nothing. Default: false for all.
   */
  once?(payload: unknown): boolean;
  /** Returns the payloads of a whole response with the numbers of the service, if it numbers them. */
  number?(payloads: readonly unknown[]): readonly unknown[];
  /** Returns a framed payload, always as text or always as bytes. A string payload is not JSON-encoded. */
  frame(payload: unknown): Frame;
  /** Returns a failure as an HTTP response; `secret` is the key of the request, which `auth` repeats. */
  error(fault: ScriptFault, secret: string): WireError;
  /** Returns a failure as payloads inside a stream that started normally. */
  fail(fault: ScriptFault): readonly unknown[];
  /** Parses a request body. Throws with a clear message for one that no provider should send. */
  read(body: unknown): ReadRequest;
  /** Returns the error response of the real service for a request that it refuses; undefined if it accepts it. */
  refuse(body: unknown, url?: string): WireError | undefined;
}

import type { OutputShape, RequestConfig, StopReason } from '../../interfaces/agent.ts';
import type { ErrorKind } from '../../values/errors.ts';
import type { Json, JsonObject } from '../../values/json.ts';
import type { AssistantPart, FilePart, Seal, ToolResultPart, UserPart } from '../../values/message.ts';
import type { Usage } from '../../values/usage.ts';
import type { RawResponse } from './transport.ts';

/** The URL and headers of requests. Resolved once per agent and cached. */
export interface Endpoint {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Strings that must never appear in an error, such as the key. */
  readonly secrets?: readonly string[];
}

/** Headers that prove to the service who sends a request, such as a token or a signature. */
export interface Credentials {
  /** Override all other headers. */
  readonly headers: Readonly<Record<string, string>>;
  /** Strings that must never appear in an error. Those of well-known headers, such as `authorization`, are secrets anyway. */
  readonly secrets?: readonly string[];
}

/** A request that only needs its credentials. */
export interface UnauthorizedRequest {
  readonly method: 'POST';
  readonly url: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** Returns the bytes of the body, for a signature. */
  body(): Uint8Array;
  /** Aborts when the request no longer needs the credentials. */
  readonly signal: AbortSignal;
  /** The object that `authorize` returned for the previous attempt, whose credentials the service rejected. */
  readonly rejected?: Credentials;
}

/** A tool declaration. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonObject;
}

/** A request without its turns, with defaults filled in. */
export interface WireRequest {
  readonly model: string;
  readonly system: readonly string[];
  readonly tools: readonly ToolSpec[];
  readonly toolChoice: 'auto' | 'none';
  readonly maxTokens?: number;
  readonly temperature?: number;
  readonly effort?: RequestConfig['effort'];
  readonly output?: OutputShape;
  /**
   * Time for which the service caches the content before the turns, in milliseconds: one of the wire's
   * {@link PrefixCache} lifetimes, or 0 for not at all. Undefined for a wire that declares none.
   */
  readonly keepMs?: number;
}

/** The request without its turns; `createAgent` puts those into `body[turns]` as an array, after `lead`. */
export interface Envelope {
  readonly body: JsonObject;
  /** Name of the field that contains the turns. */
  readonly turns: string;
  /** Items before the turns, such as a system message. */
  readonly lead?: readonly Json[];
  readonly headers?: Readonly<Record<string, string>>;
}

/** A tool result in a turn. Results come first in their turn, in the order of the calls. */
export interface ResultPart {
  readonly type: 'tool_result';
  /** The id of the call in this wire's requests. */
  readonly callId: string;
  readonly toolName: string;
  readonly content: readonly ToolResultPart[];
  readonly isError: boolean;
}

/**
 * Consecutive messages of one side: the model, or the user with the tool results. Turns are valid for any wire: sides
 * alternate starting with the user, every call has a result in the next turn, ids are unique and contain only plain
 * characters, no text is empty, and only this provider's own metadata remains (reasoning without it is omitted).
 */
export type Turn =
  | { readonly side: 'user'; readonly parts: readonly (ResultPart | UserPart)[] }
  | {
      readonly side: 'assistant';
      readonly parts: readonly AssistantPart[];
      /** True for the last turn of a request, which the model continues. */
      readonly continues?: true;
    };

/**
 * Identifies a block while its response streams. A number is the position of the block: blocks start in the order 0, 1,
 * 2, …, may interleave, are closed once, and get nothing after that; anything else makes the response invalid. A string
 * is any name; the first mention determines the order, and a name may be used again after its block is closed.
 */
export type BlockKey = number | string;

/**
 * The reason why a request or a stream failed, in provider-independent terms: an error kind (`invalid` if the service
 * would refuse the request again, `auth` for the key, `rate_limit`, `agent` for a service that is down or failed),
 * `busy` (at capacity), `not_found` (unknown model or URL), `too_long` (the conversation exceeds the context window,
 * which a shorter one may fit) or `broken` (an invalid stream).
 */
export type FaultKind = ErrorKind | 'busy' | 'broken' | 'not_found' | 'too_long';

/** A failure as reported by a wire, in provider-independent terms. `createAgent` converts it to an error. */
export interface Fault {
  readonly message: string;
  /** Default: derived from the HTTP status; `agent` inside a stream, which has no status. */
  readonly kind?: FaultKind | undefined;
  /** A more specific, stable code for programs, such as `context_full`. */
  readonly code?: string | undefined;
  /** The delay that the service asks for, in milliseconds. Default: from the standard headers. */
  readonly retryAfterMs?: number | undefined;
}

/** What users see of data that only the provider reads: a web search, or the sources of the text before it. */
export type Shown = Omit<AssistantPart & { type: 'opaque' }, 'type' | 'seal'>;

/**
 * Receives the content of a response from a wire. Every call except `ignore` counts as progress. An event without calls
 * makes the response invalid if it holds data other than its type, ids, numbers and flags. Only `end` is success, and
 * only if neither content nor another `end` follows it.
 */
export interface ResponseSink {
  /**
   * Opens a block, for services that announce each block once and close it: announcing it again, or not
   * closing it, makes the response invalid. `opaque` is a block that gets only a `seal`.
   */
  begin(at: BlockKey, kind: 'text' | 'reasoning' | 'call' | 'opaque'): void;
  text(at: BlockKey, delta: string): void;
  reasoning(at: BlockKey, delta: string): void;
  /**
   * Attaches data that must be sent back unchanged: to the block at this key, or as a separate block. `shown` is what
   * users see of a separate block.
   */
  seal(at: BlockKey, data: Seal['data'], shown?: Shown): void;
  call(at: BlockKey, id: string, name: string): void;
  /** Adds a fragment of the JSON of a call's arguments. */
  input(at: BlockKey, fragment: string): void;
  /**
   * Adds a chunk to the block at this key, for services whose chunks do not state their kind; text if no block is open.
   * The kind was set by `text`, `reasoning` or `call` when it was opened.
   */
  delta(at: BlockKey, chunk: string): void;
  /** Marks the block as complete. */
  close(at: BlockKey): void;
  /** Drops an event, block or part of this kind. Makes the response invalid unless the wire lists it in `ignored`. */
  ignore(kind: string): void;
  /** Sets the token counts so far, as absolute values: a field given again replaces the earlier value. */
  usage(counts: Partial<Usage>): void;
  /** Sets the model name, as reported by the service. */
  model(name: string): void;
  /**
   * Records why the model stopped; the response is not complete yet. `raw` is the service's own value. Another reason
   * later makes the response invalid.
   */
  stop(reason: StopReason, raw?: string): void;
  /** Ends the response. The reason is given here or recorded by `stop`; without a reason, the response is invalid. */
  end(reason?: StopReason, raw?: string): void;
  /** Reports a failure inside the stream. */
  fail(fault: Fault): void;
}

/** Splits a body into payloads. One instance per response. An exception means that the body is invalid. */
export interface Framer {
  /** Returns the payloads that these bytes complete. */
  push(bytes: Uint8Array): Iterable<unknown>;
  /** Returns the payloads that the normal end of the body completes. */
  end(): Iterable<unknown>;
}

/**
 * The framing of a response body: server-sent events with JSON data (data that is not JSON is passed as a string),
 * lines of JSON, or a custom framer with the content types it accepts.
 */
export type Framing = 'sse' | 'ndjson' | { readonly contentTypes: readonly string[]; open(): Framer };

/** A cache lifetime that a service offers for prompt prefixes. */
export interface CacheLifetime {
  /** Time for which the prefix is cached after its last use, in milliseconds. */
  readonly ms: number;
  /** Cost of writing a token, as a multiple of uncached input. */
  readonly write: number;
  /** Text inserted into the bytes of a turn to mark the end of a prefix with this lifetime. */
  readonly mark?: string;
}

/**
 * Describes how a service caches prompt prefixes. `createAgent` chooses a lifetime from the intervals between requests,
 * passes it to the envelope as `keepMs`, and inserts the mark at the last user turn of this request and of the previous
 * one, never at an assistant turn.
 */
export interface PrefixCache {
  /** The lifetimes, shortest first, which is the cheapest to write. */
  readonly lifetimes: readonly CacheLifetime[];
  /** Cost of reading a cached token, as a multiple of uncached input. */
  readonly read: number;
  /** Number of bytes between the mark and the end of its turn. Default 0. */
  readonly markBack?: number;
}

/**
 * A provider as data and pure functions. `createAgent` does the rest: transport, framing, retries, timeouts,
 * cancellation, assembling, caching of serialized turns, removal of secrets, size limits.
 */
export interface Wire {
  /** Name of the provider, also stored in its metadata (`ProviderMetadata`). */
  readonly provider: string;
  readonly framing: Framing;
  /** The endpoint, or a function that resolves it. */
  readonly endpoint: Endpoint | (() => Promise<Endpoint>);
  /**
   * Returns the credentials of an attempt, for tokens that expire and for signatures. It is called for each attempt. If
   * the service rejects the credentials (a fault of the kind `auth`), it is called once more with `rejected`, and the
   * request is sent again at once. For tokens, use `cachedCredentials`. An error that is not an AgentError fails the
   * request with the kind `auth`.
   */
  authorize?(request: UnauthorizedRequest): Credentials | Promise<Credentials>;
  /**
   * Returns the request without its turns. Must return equal bytes for equal input, because the service caches the
   * prefix.
   */
  envelope(request: WireRequest): Envelope;
  /** Converts one turn to items of the turns array. Must be pure, because the bytes are cached. */
  turn(turn: Turn): readonly Json[];
  /**
   * Reads a frame from its text, for frames whose usual spelling can be read faster than with `JSON.parse`, and makes
   * the calls that `event` makes for the parsed text. Returns false, and makes no calls, for any other text, which is
   * then parsed and passed to `event`.
   */
  read?(text: string, out: ResponseSink): boolean;
  /**
   * Handles one payload of the response. An unknown payload makes no calls, and then the response is invalid unless
   * the payload holds nothing but its type, ids, numbers and flags. An exception means that the response is invalid.
   */
  event(payload: unknown, out: ResponseSink): void;
  /**
   * The kinds of events, blocks and parts with data that may be dropped, each with the reason. The wire drops them with
   * `out.ignore`. Default: none, so that nothing is lost silently.
   */
  readonly ignored?: Readonly<Record<string, string>>;
  /**
   * Describes an HTTP failure. `body` is at most 16 KiB of text. If this throws or returns a message that is not a
   * string, only the HTTP status is used, because the body did not come from the service.
   */
  fault(status: number, body: string, header: (name: string) => string | undefined): Fault;
  /**
   * Returns why the service does not accept a file of an accepted type, such as `images over 5 MB`. A prompt with such
   * a file fails; in the history and in tool results a note replaces it. Default: all are accepted.
   */
  refuses?(file: FilePart): string | undefined;
  /** Undefined if the service caches nothing, or caches without charge and marks. */
  readonly cache?: PrefixCache;
  /** Names (or prefixes ending in `*`) of response headers to return as `rateLimits`. */
  readonly rateLimitHeaders?: readonly string[];
  /** Name of the response header that contains the service's request id. */
  readonly requestIdHeader?: string;
  /**
   * Sends a request through a vendor's client instead of the transport: for signed or expiring credentials. The headers
   * are the default ones and those of the envelope; the client adds those of the endpoint.
   */
  send?(
    body: Uint8Array,
    link: { readonly signal: AbortSignal; readonly headers: Readonly<Record<string, string>> },
  ): Promise<RawResponse>;
}

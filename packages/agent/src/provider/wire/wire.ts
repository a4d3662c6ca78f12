import type { OutputShape, RequestConfig, StopReason } from '../../interfaces/agent.ts';
import type { ErrorKind } from '../../values/errors.ts';
import type { Json, JsonObject } from '../../values/json.ts';
import type { AssistantPart, FilePart, Seal, ToolResultPart, UserPart } from '../../values/message.ts';
import type { Usage } from '../../values/usage.ts';
import type { RawResponse } from './transport.ts';

/** Where requests go. Asked for once per agent and kept. */
export interface Endpoint {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Texts that must never appear in an error, such as the key. */
  readonly secrets?: readonly string[];
}

/** A tool as a wire declares it. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonObject;
}

/** All of a request but its turns, defaults filled in. */
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
   * How long the service is to keep what stands before the turns, in milliseconds: one of the wire's
   * {@link PrefixCache} lifetimes, or 0 for not at all. Absent for a wire that declares none.
   */
  readonly keepMs?: number;
}

/** The request without its turns: the kit puts those into `body[turns]` as an array, after `lead`. */
export interface Envelope {
  readonly body: JsonObject;
  /** Name of the field that holds the turns. */
  readonly turns: string;
  /** Items that stand before the turns, such as a system message. */
  readonly lead?: readonly Json[];
  readonly headers?: Readonly<Record<string, string>>;
}

/** A tool's result in a turn. Results come first in their turn, in the order of the calls. */
export interface ResultPart {
  readonly type: 'tool_result';
  /** The id this wire knows the call by. */
  readonly callId: string;
  readonly toolName: string;
  readonly content: readonly ToolResultPart[];
  readonly isError: boolean;
}

/**
 * One side's say. The view is valid for any wire: sides alternate beginning with the user, every call is
 * answered in the next turn, ids are unique and of plain characters, no text is empty, and of what is
 * sealed only this provider's own remains (reasoning without a seal is left out).
 */
export type Turn =
  | { readonly side: 'user'; readonly parts: readonly (ResultPart | UserPart)[] }
  | { readonly side: 'assistant'; readonly parts: readonly AssistantPart[] };

/** Names a block while its answer streams: any stable key. Blocks may interleave; the first mention gives the order. */
export type BlockKey = number | string;

/**
 * Why a request or a stream failed, in neutral words: an error kind (`invalid` for what would be refused again,
 * `auth` for the key, `rate_limit`, `agent` for a service that is down or broke), `busy` (at its limit),
 * `not_found` (no such model, no such address), `too_long` (the conversation does not fit the model, which a
 * shorter one might) or `broken` (a garbled stream).
 */
export type FaultKind = ErrorKind | 'busy' | 'broken' | 'not_found' | 'too_long';

/** A failure as a wire reports it, in neutral words. The kit makes the error of it. */
export interface Fault {
  readonly message: string;
  /** Absent: taken from the HTTP status, and `agent` inside a stream, which has none. */
  readonly kind?: FaultKind | undefined;
  /** A finer, stable word for programs, such as `context_full`. */
  readonly code?: string | undefined;
  /** How long the service asks us to wait, in milliseconds. Absent: the standard headers count. */
  readonly retryAfterMs?: number | undefined;
}

/**
 * The only way for a wire to speak. Whatever is called here counts as progress, `skip` apart; an event that calls
 * nothing proves life but not progress. Nothing but `end` is success.
 */
export interface ResponseSink {
  /**
   * The service announces a block; `text`, `reasoning` or `call` opens it. For services that announce each block of a
   * key once: announced again when it holds something, or sent again as a whole, it makes the answer garbled.
   */
  begin(at: BlockKey, kind: 'text' | 'reasoning' | 'call', id?: string): void;
  text(at: BlockKey, delta: string): void;
  reasoning(at: BlockKey, delta: string): void;
  /** Attaches data that must come back unchanged: to the block at this key, or as a block of its own. */
  seal(at: BlockKey, data: Seal['data']): void;
  call(at: BlockKey, id: string, name: string): void;
  /** A fragment of the JSON text of a call's arguments. */
  input(at: BlockKey, fragment: string): void;
  /**
   * A piece of whatever the block at this key is, for services whose pieces do not say so; a text where no
   * block is known. What a block is, `text`, `reasoning` or `call` has said when it was opened.
   */
  delta(at: BlockKey, piece: string): void;
  /** The block is whole. */
  close(at: BlockKey): void;
  /**
   * The block is of a kind that is not known: `delta`, `seal` and `close` leave it out of the answer. This is no
   * progress, and neither are they.
   */
  skip(at: BlockKey): void;
  /** Token counts so far, absolute: a field given again replaces the earlier value. */
  usage(counts: Partial<Usage>): void;
  /** The model that answers, as the service names it. */
  model(name: string): void;
  /** Notes why the model stopped; the answer is not over yet. `raw` is the service's own word. */
  stop(reason: StopReason, raw?: string): void;
  /** The answer is over. The reason is the one given here or noted by `stop`. */
  end(reason?: StopReason, raw?: string): void;
  /** The service reports a failure inside the stream. */
  fail(fault: Fault): void;
}

/** Splits a body into payloads. One instance per answer. A throw means that the body is garbled. */
export interface Framer {
  /** Payloads completed by these bytes. */
  push(bytes: Uint8Array): Iterable<unknown>;
  /** Payloads that the clean end of the body completes. */
  end(): Iterable<unknown>;
}

/**
 * How bytes become payloads: server-sent events whose data is JSON (a data line that is not JSON is given
 * as its text), lines of JSON, or a framer of your own with the content types it accepts.
 */
export type Framing = 'sse' | 'ndjson' | { readonly contentTypes: readonly string[]; open(): Framer };

/** One of the ways in which a service keeps what a prompt begins with. */
export interface CacheLifetime {
  /** How long it is kept after its last use, in milliseconds. */
  readonly ms: number;
  /** What writing a token costs, as a multiple of plain input. */
  readonly write: number;
  /** Text spliced into the bytes of a turn to mark the end of what is to be kept so long. */
  readonly mark?: string;
}

/**
 * How a service keeps what a prompt begins with. The kit chooses among the lifetimes by the pauses it sees,
 * tells the envelope by `keepMs`, and puts the mark at the last turn of the user in this request and in the
 * one before, never at a turn of the assistant.
 */
export interface PrefixCache {
  /** The shortest one, which is the cheapest to write, first. */
  readonly lifetimes: readonly CacheLifetime[];
  /** What reading a kept token costs, as a multiple of plain input. */
  readonly read: number;
  /** How many bytes before the end of its turn a mark stands. Default 0. */
  readonly markBack?: number;
}

/**
 * A provider as data and pure functions. `createAgent` does the rest: transport, framing, retries,
 * time-outs, abort, assembling, history bytes, scrubbing, size limits.
 */
export interface Wire {
  /** Names the provider; seals carry it. */
  readonly provider: string;
  readonly framing: Framing;
  /** Where requests go, or how to find out. */
  readonly endpoint: Endpoint | (() => Promise<Endpoint>);
  /** The request without its turns. Must give equal bytes for equal input: the prefix is cached by the service. */
  envelope(request: WireRequest): Envelope;
  /** One turn as items of the turns array. Pure: the kit keeps its bytes. */
  turn(turn: Turn): readonly Json[];
  /** One payload of the answer. An unknown one calls nothing; a throw means that the answer is garbled. */
  event(payload: unknown, out: ResponseSink): void;
  /**
   * Describes an HTTP failure. `body` is at most 16 KiB of text. Where this throws, or gives a message that is
   * no text, the status alone says what happened: the body was not the service's.
   */
  fault(status: number, body: string, header: (name: string) => string | undefined): Fault;
  /**
   * Why the service does not accept this file although it accepts files of this type: words such as `images over 5 MB`.
   * A prompt with such a file fails; in the history and in results of tools a note replaces it. Absent: it accepts all.
   */
  refuses?(file: FilePart): string | undefined;
  /** Absent: the service keeps nothing, or asks no price for it and needs no mark. */
  readonly cache?: PrefixCache;
  /** Names (or prefixes ending in `*`) of response headers shown as `rateLimits`. */
  readonly rateLimitHeaders?: readonly string[];
  /** Name of the response header with the service's request id. */
  readonly requestIdHeader?: string;
  /**
   * Sends through a vendor's client instead of the kit's transport: for signed or expiring credentials. The
   * headers are the kit's and the envelope's; those of the endpoint are left to the client.
   */
  send?(
    body: Uint8Array,
    link: { readonly signal: AbortSignal; readonly headers: Readonly<Record<string, string>> },
  ): Promise<RawResponse>;
}

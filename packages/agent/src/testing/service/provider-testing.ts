import type { StopReason } from '../../interfaces/agent.ts';
import type { Usage } from '../../values/usage.ts';

/** A block of a scripted answer. */
export type ScriptBlock =
  | { readonly type: 'text'; readonly text: string }
  /** `seal` is what the service would sign the thinking with. */
  | { readonly type: 'reasoning'; readonly text: string; readonly seal?: string }
  /** `input` is the raw text of the arguments, which need not be good JSON. */
  | { readonly type: 'call'; readonly id: string; readonly name: string; readonly input: string };

/** One answer of a model in neutral words. */
export interface ScriptAnswer {
  readonly blocks: readonly ScriptBlock[];
  readonly stop: StopReason;
  readonly usage: Usage;
  readonly model: string;
}

/** A moment in the telling of an answer. `at` is the index of a block. */
export type Step =
  | { readonly type: 'open'; readonly at: number }
  | { readonly type: 'delta'; readonly at: number; readonly text: string }
  /** The seal of a reasoning block, told before its close. */
  | { readonly type: 'seal'; readonly at: number }
  | { readonly type: 'close'; readonly at: number }
  /** The rest: stop reason, usage, end. */
  | { readonly type: 'end' };

/** A failure of a service, as its provider is to describe it. */
export interface ScriptFault {
  readonly kind: 'busy' | 'rate_limit' | 'agent' | 'invalid' | 'auth' | 'not_found' | 'too_long';
  readonly message: string;
  readonly retryAfterMs?: number;
}

/** An HTTP answer that is not a stream. */
export interface WireError {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A part of a request read back, in neutral words. */
export type ReadPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'file'; readonly mediaType: string; readonly data: string }
  | { readonly type: 'reasoning'; readonly text: string; readonly seal?: string }
  | { readonly type: 'call'; readonly id: string; readonly name: string; readonly input: unknown }
  /** `text` is all texts of the result, with nothing between; its files follow as parts of their own. */
  | { readonly type: 'result'; readonly id: string; readonly text: string; readonly isError: boolean };

/** A request read back from the wire. */
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

/** What a wire may be unable to say. Each switches off the contract cases that need it. */
export type UnsupportedFeature =
  | 'reasoning'
  | 'seal'
  | 'sampling'
  | 'native-output'
  /** Counts of what was read from and written to a cache: both. */
  | 'cache-usage'
  /** Of these two counts, that of what was written. */
  | 'cache-write-usage'
  /** Answers do not name the model that gave them: then it is the one that was asked. */
  | 'model-name'
  | 'reasoning-usage'
  | 'interleaving'
  | 'error-results'
  | 'in-stream-fault'
  | 'pause'
  | 'context-full-stop'
  /** Text with broken letters in it: a check sum over the bytes refuses the frame that holds them. */
  | 'checked-text';

/**
 * The inverse of a provider: it writes what the provider reads and reads what the provider writes.
 * Everything here is plain data and pure functions, so that any server can play it.
 */
export interface ProviderTesting {
  readonly provider: string;
  /** Media type of a streamed answer. */
  readonly contentType: string;
  /** Headers of a good answer, and what the agent is to make of them. Absent: a wire without any. */
  readonly head?: {
    readonly headers: Readonly<Record<string, string>>;
    readonly requestId?: string;
    readonly rateLimits?: Readonly<Record<string, string>>;
  };
  /** What this wire cannot say, each with the reason in one sentence. */
  readonly lacks: Partial<Readonly<Record<UnsupportedFeature, string>>>;
  /** Payloads that open an answer. */
  begin(answer: ScriptAnswer): readonly unknown[];
  /** Payloads of one step. May be none. */
  line(step: Step, answer: ScriptAnswer): readonly unknown[];
  /** Payloads that a good provider does not mind: pings and kinds from the future. */
  noise(): readonly unknown[];
  /** A payload as it stands on the wire. A string payload is not JSON-encoded. */
  frame(payload: unknown): string;
  /** A failure as HTTP answer; `secret` is the key of the request, to be echoed by `auth`. */
  error(fault: ScriptFault, secret: string): WireError;
  /** A failure as payloads inside a stream that began well. */
  fail(fault: ScriptFault): readonly unknown[];
  /** Reads a request's body back. Throws with a clear message for one that no provider should send. */
  read(body: unknown): ReadRequest;
  /** What the real service would refuse about this body, with its words; nothing when it is fine. */
  refuse(body: unknown): WireError | undefined;
}

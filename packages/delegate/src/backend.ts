import type { AgentError, HarnessCapabilities, StopReason, Usage } from '@cobbler/agent';
import type { BackendEvent, Totals } from './happening.ts';

/**
 * What a program may do, chosen by whoever makes its backend and by nobody else: `read-only` changes nothing,
 * `gate` asks about each call, `edit` may change files of its folder, `bypass` may do whatever its user may.
 */
export type DelegatePermission = 'read-only' | 'gate' | 'edit' | 'bypass';

/** One job for a program. */
export interface BackendRequest {
  readonly prompt: string;
  /** Where it works: a folder that exists. */
  readonly workingDir: string;
  readonly systemPrompt?: string;
  /** Most answers of its model in all tries, as far as the program can be told. */
  readonly maxTurns?: number;
  /** Most US dollars for all tries, as far as the program can be told; it may pass it by one answer. */
  readonly maxUsd?: number;
  /** Most tokens in all tries. No program can be told: it is ended when it has used more. */
  readonly maxTokens?: number;
  /** The program's own id of a conversation to go on with. */
  readonly resumeId?: string;
  /** What that conversation had used before, as a result said. */
  readonly before?: Totals;
}

/** What came of a job. Every outcome is one of these; nothing rejects for what a program does. */
export interface BackendResult {
  readonly status: 'completed' | 'failed' | 'cancelled' | 'timeout';
  /** The program's own id of the conversation, when it named one. */
  readonly cliSessionId?: string;
  /** Its final text; of a job that failed what is known, raw if need be. At most 1 MiB. */
  readonly output: string;
  /** Null when a signal ended it, or it never ran. */
  readonly exitCode: number | null;
  /** Present unless the job was completed. */
  readonly error?: AgentError;
  readonly stop?: StopReason;
  /** What the last try used. */
  readonly usage: Usage;
  /** US dollars of all tries; absent when the program does not say. */
  readonly usd?: number;
  /** What the conversation has used so far: give it to the next job of it as `before`. */
  readonly totals: Totals;
  /** Answers of its model, in all tries. */
  readonly turns: number;
  readonly toolCalls: number;
  /** Names of tools that were refused. */
  readonly denials: readonly string[];
  /** True when the conversation to go on with was gone, and the job was done without it. */
  readonly contextLost: boolean;
  /** Starts of the program. */
  readonly attempts: number;
  /** What the tries before the last one used. */
  readonly wasted: Usage;
  readonly durationMs: number;
}

/** What a job is given besides. */
export interface BackendContext {
  /** Aborting it ends the program and everything it started. */
  readonly signal?: AbortSignal;
  /** Hears what happens, synchronously and in order. What it throws is its own affair. */
  readonly onHappening?: (happening: BackendEvent) => void;
}

/** A decision about a call that was asked for. */
export type CallDecision =
  | { readonly type: 'allow'; readonly arguments?: Record<string, unknown> }
  | { readonly type: 'deny'; readonly message: string; readonly interrupt?: boolean };

/** A job under way. */
export interface BackendProcess {
  /** Never rejects. Resolves when the program and everything it started are gone. */
  readonly result: Promise<BackendResult>;
  /** Ends it. */
  stop(): void;
  /**
   * Decides about a call that was asked for. Does nothing when nobody waits for it. What is not clearly an allow
   * denies; so does an allow with other arguments for a program that cannot take them, such as Codex.
   */
  decide(callId: string, decision: CallDecision): void;
  /** Says something to the program while it works. False when it cannot hear. */
  steer(text: string): boolean;
}

/** A program that can be given jobs. */
export interface Backend {
  readonly name: string;
  readonly capabilities: HarnessCapabilities;
  /** Whether it says what its jobs cost. */
  readonly tellsCost: boolean;
  /** Why no job of it can begin, such as a program that is not there. */
  problem(): AgentError | undefined;
  /** Does a job to its end. */
  run(request: BackendRequest, context?: BackendContext): Promise<BackendResult>;
  /** Begins a job and returns at once. */
  start(request: BackendRequest, context?: BackendContext): BackendProcess;
}

import type { AgentError, StopReason, Usage } from '@cobbler/agent';
import type { HarnessCapabilities } from '@cobbler/agent/harness';
import type { BackendEvent, Totals } from '../events/backend-event.ts';

/**
 * Permissions of a program, set only by the creator of its backend: `read-only` changes nothing, `gate` asks about
 * each call, `edit` may change files of its directory, `bypass` may do everything that its user may.
 */
export type DelegatePermission = 'read-only' | 'gate' | 'edit' | 'bypass';

/** One job for a program. */
export interface BackendRequest {
  readonly prompt: string;
  /** Where it works: a folder that exists. */
  readonly workingDir: string;
  readonly systemPrompt?: string;
  /** Maximum responses of its model in all attempts, if the program supports a limit. */
  readonly maxTurns?: number;
  /** Maximum US dollars for all attempts, if the program supports a limit; one response may exceed it. */
  readonly maxUsd?: number;
  /** Maximum tokens in all attempts. No program supports this limit: it is stopped when it has used more. */
  readonly maxTokens?: number;
  /** The program's own id of a conversation to continue. */
  readonly resumeId?: string;
  /** The earlier usage of that conversation, from a result. */
  readonly before?: Totals;
}

/** The outcome of a task. Every outcome is one of these; a program's failure never rejects. */
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
  /** Usage of the last attempt. */
  readonly usage: Usage;
  /** US dollars of all tries; absent when the program does not say. */
  readonly usd?: number;
  /** Usage of the conversation so far: pass it to its next task as `before`. */
  readonly totals: Totals;
  /** Answers of its model, in all tries. */
  readonly turns: number;
  readonly toolCalls: number;
  /** Names of tools that were refused. */
  readonly denials: readonly string[];
  /** True when the conversation to continue was lost, and the task was done without it. */
  readonly contextLost: boolean;
  /** Starts of the program. */
  readonly attempts: number;
  /** Usage of the attempts before the last one. */
  readonly wasted: Usage;
  readonly durationMs: number;
}

/** Other options of a task. */
export interface BackendContext {
  /** Aborting it ends the program and everything it started. */
  readonly signal?: AbortSignal;
  /** Receives the events, synchronously and in order. Its errors are ignored. */
  readonly onEvent?: (event: BackendEvent) => void;
}

/** A decision about a call that was asked for. */
export type CallDecision =
  | { readonly type: 'allow'; readonly arguments?: Record<string, unknown> }
  | { readonly type: 'deny'; readonly message: string; readonly interrupt?: boolean };

/** An active task. */
export interface BackendProcess {
  /** Never rejects. Resolves when the program and everything it started are gone. */
  readonly result: Promise<BackendResult>;
  /** Ends it. */
  stop(): void;
  /**
   * Decides a call that waits for approval. Has no effect if it does not wait. Everything but a clear allow denies; so
   * does an allow with other arguments for a program that does not support them, such as Codex.
   */
  decide(callId: string, decision: CallDecision): void;
  /** Sends a message to the program during its task. False if it cannot receive one. */
  steer(text: string): boolean;
}

/** A program that can be given jobs. */
export interface Backend {
  readonly name: string;
  readonly capabilities: HarnessCapabilities;
  /** True if it reports the cost of its tasks. */
  readonly tellsCost: boolean;
  /** Why no job of it can begin, such as a program that is not there. */
  problem(): AgentError | undefined;
  /** Does a job to its end. */
  run(request: BackendRequest, context?: BackendContext): Promise<BackendResult>;
  /** Begins a job and returns at once. */
  start(request: BackendRequest, context?: BackendContext): BackendProcess;
}

import type { AgentError, StopReason, ToolContext, Usage } from '@cobbler/agent';
import { noUsage } from '@cobbler/agent';
import type { HarnessCapabilities } from '@cobbler/agent/harness';
import type { Reader } from '@cobbler/agent/input';
import { amount, any, callable, flag, oneOf, readUsage, record, signal, text } from '@cobbler/agent/input';
import type { BackendEvent, Totals } from '../events/backend-event.ts';

/**
 * Permissions of a program, set only when its backend is created. `read-only` changes nothing, `gate` asks about each
 * call, `edit` can change files in its directory, and `bypass` can do everything that its user can.
 */
export type DelegatePermission = 'read-only' | 'gate' | 'edit' | 'bypass';

/** Reads a permission. */
export const readPermission: Reader<DelegatePermission> = oneOf('read-only', 'gate', 'edit', 'bypass');

/** One task for a program. */
export interface BackendRequest {
  readonly prompt: string;
  /** The working directory, which must exist. */
  readonly workingDir: string;
  readonly systemPrompt?: string;
  /** Maximum number of model responses in all attempts, if the program supports a limit. */
  readonly maxTurns?: number;
  /** Maximum cost of all attempts in US dollars, if the program supports a limit; one response may exceed it. */
  readonly maxUsd?: number;
  /**
   * Maximum number of tokens in all attempts. No program supports this limit, so the program is stopped when it
   * exceeds it.
   */
  readonly maxTokens?: number;
  /** The program's own id of a conversation to continue. */
  readonly resumeId?: string;
  /** The earlier usage of that conversation, from its last result. */
  readonly before?: Totals;
}

/** The outcome of a task. Every outcome is one of these; a program's failure never rejects. */
export interface BackendResult {
  readonly status: 'completed' | 'failed' | 'cancelled' | 'timeout';
  /** The program's own id of the conversation, if known. */
  readonly cliSessionId?: string;
  /** The final text. For a failed task, the output so far, unparsed if necessary. At most 1 MiB. */
  readonly output: string;
  /** Null if a signal ended the program, or if it never ran. */
  readonly exitCode: number | null;
  /** Present unless the task was completed. */
  readonly error?: AgentError;
  readonly stop?: StopReason;
  /** Usage of the last attempt. */
  readonly usage: Usage;
  /** Cost of all attempts in US dollars; absent if the program does not report it. */
  readonly usd?: number;
  /** Usage of the conversation so far: pass it to its next task as `before`. */
  readonly totals: Totals;
  /** Number of model responses in all attempts. */
  readonly turns: number;
  readonly toolCalls: number;
  /** Names of tools whose calls were denied. */
  readonly denials: readonly string[];
  /** True if the conversation to continue was lost, and the task was done without it. */
  readonly contextLost: boolean;
  /** Number of times the program was started. */
  readonly attempts: number;
  /** Usage of the attempts before the last one. */
  readonly wasted: Usage;
  readonly durationMs: number;
}

/** The result of a task that has done nothing yet, without its outcome. */
export const noWork: Omit<BackendResult, 'status' | 'output' | 'durationMs'> = {
  exitCode: null,
  usage: noUsage,
  totals: {},
  turns: 0,
  toolCalls: 0,
  denials: [],
  contextLost: false,
  attempts: 1,
  wasted: noUsage,
};

/** Other options of a task. */
export interface BackendContext {
  /** Aborting it ends the program and everything it started. */
  readonly signal?: AbortSignal;
  /** Receives the events, synchronously and in order. Its errors are ignored. */
  readonly onEvent?: (event: BackendEvent) => void;
  /** What a task in this process needs from the tool call that starts it. Programs do not use it. */
  readonly call?: Pick<ToolContext, 'budget' | 'user' | 'ask'>;
}

/** A decision about a call that the program has asked about. */
export type CallDecision =
  | { readonly type: 'allow'; readonly arguments?: Record<string, unknown> }
  | { readonly type: 'deny'; readonly message: string; readonly interrupt?: boolean };

/** An active task. */
export interface BackendProcess {
  /** Resolves when the program and everything it started have ended. Never rejects. */
  readonly result: Promise<BackendResult>;
  /** Ends the task. */
  stop(): void;
  /**
   * Decides a call that is waiting for approval, and has no effect on other calls. Everything except a clear allow denies
   * the call. So does an allow with different arguments for a program that does not support them, such as Codex.
   */
  decide(callId: string, decision: CallDecision): void;
  /** Sends a message to the program during its task. Returns false if the program cannot receive one. */
  steer(text: string): boolean;
}

/** A program that performs tasks. */
export interface Backend {
  readonly name: string;
  readonly capabilities: HarnessCapabilities;
  /** True if it reports the cost of its tasks. */
  readonly tellsCost: boolean;
  /** True if it charges each request to the budget of the call, instead of reporting its usage at the end. Default false. */
  readonly chargesCall?: boolean;
  /** Returns why no task can start, such as a missing program. */
  problem(): AgentError | undefined;
  /** Performs a task and returns its outcome. */
  run(request: BackendRequest, context?: BackendContext): Promise<BackendResult>;
  /** Starts a task and returns immediately. */
  start(request: BackendRequest, context?: BackendContext): BackendProcess;
}

/** Reads a task. */
export const readRequest: Reader<BackendRequest> = record<BackendRequest>(
  {
    prompt: text,
    workingDir: text,
    systemPrompt: text,
    maxTurns: amount,
    maxUsd: amount,
    maxTokens: amount,
    resumeId: text,
    before: record<Totals>({ usage: readUsage, usd: amount }),
  },
  ['prompt', 'workingDir'],
);

/** Reads the other options of a task. */
export const readContext: Reader<BackendContext> = record<BackendContext>({
  signal,
  onEvent: callable,
  call: any,
});

/** Reads a backend. */
export const readBackend: Reader<Backend> = record<Backend>(
  {
    name: text,
    capabilities: record<HarnessCapabilities>(
      { tools: flag, gate: flag, steer: flag, fork: flag, deltas: flag },
      ['tools', 'gate', 'steer', 'fork', 'deltas'],
    ),
    tellsCost: flag,
    chargesCall: flag,
    problem: callable,
    run: callable,
    start: callable,
  },
  ['name', 'capabilities', 'tellsCost', 'problem', 'run', 'start'],
  'a backend, such as claudeCode()',
);

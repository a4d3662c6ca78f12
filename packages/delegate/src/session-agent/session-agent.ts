import type { GateCall, Usage } from '@cobbler/agent';
import type { Reader } from '@cobbler/agent/input';
import {
  amount,
  callable,
  flag,
  listOf,
  read,
  readUsage,
  record,
  text,
  when,
  withMethods,
} from '@cobbler/agent/input';
import type { CallDecision } from '../backend/backend.ts';

/** The conversation context of an agent. */
export interface AgentSession {
  readonly sessionId: string;
  readonly workingDirectory: string;
  /** The mode. `plan` explores and plans without changing anything. */
  readonly mode?: string;
  /** The backend's own id of the conversation. The agent writes it after each turn and reads it before the next. */
  claudeSessionId?: string | null;
  /**
   * The first tool whose untrusted output the conversation contains. The agent writes it like the id. Store both, so that
   * the decisions about calls are the same after a restart.
   */
  untrusted?: string | null;
}

/** What a decision about a call can depend on, apart from the tool and its arguments. */
export interface ToolCallContext extends Pick<GateCall, 'mustAsk' | 'untrusted'> {
  readonly signal: AbortSignal;
  readonly callId: string;
}

/** A tool that an agent is using. */
export interface ToolActivity {
  readonly toolName: string;
  readonly description: string;
}

/** A decision about a call, in Cobbler's form or that of the Claude Agent SDK. A string is a decision without fields. */
export type ToolVerdict =
  | CallDecision
  | CallDecision['type']
  | { readonly behavior: 'allow'; readonly updatedInput?: Record<string, unknown> }
  | { readonly behavior: 'deny'; readonly message: string; readonly interrupt?: boolean };

/** Callbacks of an agent during its work. All are optional. */
export interface ExecuteCallbacks {
  /**
   * Decides each call before it runs. The caller reads the result with `readVerdict` of `@cobbler/agent`: an
   * exception, and everything except a clear allow, denies the call.
   */
  readonly canUseTool?: (
    toolName: string,
    input: Record<string, unknown>,
    context: ToolCallContext,
  ) => ToolVerdict | Promise<ToolVerdict>;
  /** Receives each text from the model, in order. */
  readonly onTextChunk?: (text: string) => unknown;
  /** Receives each tool when it starts, and null when it has ended. */
  readonly onToolActivity?: (activity: ToolActivity | null) => unknown;
}

/** The outcome of one prompt. Frozen. */
export interface AgentResponse {
  readonly content: string;
  readonly sessionId: string | null;
  /** Cost of this prompt in US dollars; also 0 if not reported. */
  readonly cost: number;
  readonly durationMs: number;
  readonly numTurns: number;
  /** Names of the called tools, one for each call. */
  readonly toolsUsed: readonly string[];
  readonly isError: boolean;
  /** Usage of this prompt, if the backend reports it. */
  readonly usage?: Usage;
}

/**
 * An agent that executes prompts in its own sessions (requirement S1.1). Any object with these three methods is one.
 */
export interface SessionAgent {
  /** Executes a prompt. A session executes one prompt at a time. */
  execute(prompt: string, session: AgentSession, callbacks?: ExecuteCallbacks): Promise<AgentResponse>;
  /** Interrupts the active prompt of a session; does nothing if there is none. */
  cancel(sessionId: string): Promise<void>;
  /** Ends all sessions and releases all resources. */
  shutdown(): Promise<void>;
}

/** Reads a session agent. */
export const readSessionAgent: Reader<SessionAgent> = withMethods('execute', 'cancel', 'shutdown');

const textOrNull = when<string | null>(
  (value) => value === null || typeof value === 'string',
  'a string or null',
);

/** Reads a session. The agent writes the id and the mark of its conversation to the object of the caller. */
export const readSession: Reader<AgentSession> = record<AgentSession>(
  { sessionId: text, workingDirectory: text, mode: text, claudeSessionId: textOrNull, untrusted: textOrNull },
  ['sessionId', 'workingDirectory'],
);

/** Reads the callbacks. */
export const readCallbacks: Reader<ExecuteCallbacks> = record<ExecuteCallbacks>({
  canUseTool: callable,
  onTextChunk: callable,
  onToolActivity: callable,
});

const readResponse = record<AgentResponse>(
  {
    content: text,
    sessionId: textOrNull,
    cost: amount,
    durationMs: amount,
    numTurns: amount,
    toolsUsed: listOf(text),
    isError: flag,
    usage: readUsage,
  },
  ['content'],
);

/**
 * Returns a response with defaults for missing fields. Frozen.
 * @throws AgentError `invalid` for an invalid field.
 */
export function agentResponse(given: Pick<AgentResponse, 'content'> & Partial<AgentResponse>): AgentResponse {
  const nothing = { sessionId: null, cost: 0, durationMs: 0, numTurns: 0, toolsUsed: [], isError: false };
  return Object.freeze({ ...nothing, ...read(given, readResponse, 'given') });
}

export function toolActivity(toolName: string, description: string): ToolActivity {
  return Object.freeze({ toolName, description });
}

/** Calls a listener and ignores its errors. */
export async function quietly(tell: () => unknown): Promise<void> {
  try {
    await tell();
  } catch {}
}

/** The error for a prompt to a session with an active prompt. */
export const busyText = 'another prompt is already in progress';

/** The error of a cancelled prompt. */
export const cancelledText = 'The run was cancelled.';

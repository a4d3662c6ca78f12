import type { Usage } from '@cobbler/agent';
import type { CallDecision } from './backend.ts';

/** What an agent is told of the conversation it works in. */
export interface AgentSession {
  readonly sessionId: string;
  readonly workingDirectory: string;
  /** `plan`: explore and plan, change nothing. */
  readonly mode?: string;
  /** The backend's own id of the conversation: written by the agent after each turn, read by it before the next. */
  claudeSessionId?: string | null;
}

/** A tool that an agent is using. */
export interface ToolActivity {
  readonly toolName: string;
  readonly description: string;
}

/** A decision about a call, or the same in the words of the Claude Agent SDK. */
export type ToolVerdict =
  | CallDecision
  | { readonly behavior: 'allow'; readonly updatedInput?: Record<string, unknown> }
  | { readonly behavior: 'deny'; readonly message: string; readonly interrupt?: boolean };

/** What an agent may ask and tell while it works. All may be left out. */
export interface ExecuteCallbacks {
  /**
   * Decides about each call before it is made. Whoever calls it reads its answer with `readVerdict` of
   * `@cobbler/agent`: what it throws denies, and so does anything that is not clearly an allow.
   */
  readonly canUseTool?: (
    toolName: string,
    input: Record<string, unknown>,
    context: { readonly signal: AbortSignal; readonly callId: string },
  ) => ToolVerdict | Promise<ToolVerdict>;
  /** Gets each text of the model, in order. */
  readonly onTextChunk?: (text: string) => unknown;
  /** Gets each tool as it begins, and null when it has ended. */
  readonly onToolActivity?: (activity: ToolActivity | null) => unknown;
}

/** What came of one prompt. Frozen. */
export interface AgentResponse {
  readonly content: string;
  readonly sessionId: string | null;
  /** US dollars of this prompt; 0 also when nobody says. */
  readonly cost: number;
  readonly durationMs: number;
  readonly numTurns: number;
  /** Names of the tools, one for each call. */
  readonly toolsUsed: readonly string[];
  readonly isError: boolean;
  /** What this prompt used, where the backend says so. */
  readonly usage?: Usage;
}

/**
 * An agent that works on prompts in sessions of its own, as seed S1 has it. A plain object with these three methods
 * is one.
 */
export interface SessionAgent {
  /** Works on a prompt to its end. One prompt of a session at a time. */
  execute(prompt: string, session: AgentSession, callbacks?: ExecuteCallbacks): Promise<AgentResponse>;
  /** Interrupts what is under way in a session; nothing when nothing is. */
  cancel(sessionId: string): Promise<void>;
  /** Ends everything and gives everything back. */
  shutdown(): Promise<void>;
}

/** A response with what was left out filled in. Frozen. */
export function agentResponse(given: Pick<AgentResponse, 'content'> & Partial<AgentResponse>): AgentResponse {
  const nothing = { sessionId: null, cost: 0, durationMs: 0, numTurns: 0, isError: false };
  const toolsUsed = Object.freeze([...(given.toolsUsed ?? [])]);
  return Object.freeze({ ...nothing, ...given, toolsUsed });
}

export function toolActivity(toolName: string, description: string): ToolActivity {
  return Object.freeze({ toolName, description });
}

/** What a prompt of a session says whose last one is still under way. */
export const busyText = 'another prompt is already in progress';

/** What a prompt says that somebody took back. */
export const cancelledText = 'The run was cancelled.';

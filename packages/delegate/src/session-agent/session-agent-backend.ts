import type { AgentError as AgentErrorType } from '@cobbler/agent';
import { AgentError, noUsage, systemRuntime } from '@cobbler/agent';
import type { HarnessCapabilities } from '@cobbler/agent/harness';
import { defined } from '@cobbler/agent/values';
import type {
  Backend,
  BackendContext,
  BackendProcess,
  BackendRequest,
  BackendResult,
  CallDecision,
} from '../backend/backend.ts';
import { noWork } from '../backend/backend.ts';
import { readDecision } from '../backend/call-decision.ts';
import type { BackendEvent } from '../events/backend-event.ts';
import { failureOf } from '../events/failure.ts';
import type { AgentResponse, AgentSession, SessionAgent, ToolActivity } from './session-agent.ts';

/** Options of an agent's sessions. */
export interface SessionAgentBackendOptions {
  readonly name: string;
  readonly sessionId: string;
  /** The mode, such as `plan`. */
  readonly mode?: string | undefined;
}

/** A session agent as a backend, which converts the agent's callbacks to events. */
export class SessionAgentBackend implements Backend {
  readonly name: string;
  readonly capabilities: HarnessCapabilities = {
    tools: false,
    gate: true,
    steer: false,
    fork: false,
    deltas: false,
  };
  readonly tellsCost: boolean = true;
  readonly #agent: SessionAgent;
  readonly #options: SessionAgentBackendOptions;

  constructor(agent: SessionAgent, options: SessionAgentBackendOptions) {
    this.name = options.name;
    this.#agent = agent;
    this.#options = options;
  }

  problem(): undefined {
    return undefined;
  }

  run(request: BackendRequest, context: BackendContext = {}): Promise<BackendResult> {
    return this.start(request, context).result;
  }

  start(request: BackendRequest, context: BackendContext = {}): BackendProcess {
    const { sessionId, mode } = this.#options;
    const session: AgentSession = {
      sessionId,
      workingDirectory: request.workingDir,
      ...defined({ mode }),
      claudeSessionId: request.resumeId ?? null,
    };
    const teller = new UpdateConverter((event) => context.onEvent?.(event));
    let isStopped = false;
    const stop = () => {
      isStopped = true;
      teller.giveUp();
      this.#agent.cancel(sessionId).catch(() => {});
    };
    context.signal?.addEventListener('abort', stop, { once: true });
    const began = systemRuntime.monotonic();
    const execute = async (): Promise<AgentResponse> =>
      this.#agent.execute(request.prompt, session, {
        canUseTool: (toolName, input, { callId }) => teller.askForDecision(toolName, input, callId),
        onTextChunk: (text) => teller.text(text),
        onToolActivity: (activity) => teller.activity(activity),
      });
    const result = execute()
      .then(
        (response) => teller.finish(response),
        (thrown: unknown) => failedResult(AgentError.from(thrown)),
      )
      .then((outcome): BackendResult => {
        context.signal?.removeEventListener('abort', stop);
        const durationMs = systemRuntime.monotonic() - began;
        return isStopped
          ? { ...outcome, ...cancelledResult(this.name), durationMs }
          : { ...outcome, durationMs };
      });
    return {
      result,
      stop,
      decide: (callId, decision) => teller.decide(callId, readDecision(decision)),
      steer: () => false,
    };
  }
}

/** Converts updates of an agent to backend events. A started block ends when another one starts. */
class UpdateConverter {
  readonly #tell: (event: BackendEvent) => void;
  readonly #waiting: Map<string, (decision: CallDecision) => void> = new Map();
  /** Calls that were allowed and have not ended, oldest first. */
  #running: string[] = [];
  /** Tools that were announced but not submitted for approval. */
  #unapproved: ToolActivity[] = [];
  #calls = 0;
  #toolCalls = 0;
  #isOver = false;

  constructor(tell: (event: BackendEvent) => void) {
    this.#tell = tell;
  }

  text(text: string): void {
    this.#endRunning();
    this.#tell({ type: 'part', part: { type: 'text', text } });
  }

  askForDecision(toolName: string, input: Record<string, unknown>, given: string): Promise<CallDecision> {
    if (this.#isOver) return Promise.resolve({ type: 'deny', message: 'The run was stopped.' });
    const at = this.#unapproved.findIndex((activity) => activity.toolName === toolName);
    if (at !== -1) this.#unapproved.splice(at, 1);
    const callId = given === '' || this.#waiting.has(given) ? this.#nextId() : given;
    const decided = new Promise<CallDecision>((resolve) => this.#waiting.set(callId, resolve));
    this.#begin(callId, toolName, input);
    this.#tell({ type: 'asked', callId, toolName, arguments: input });
    return decided;
  }

  decide(callId: string, decision: CallDecision): void {
    const resolve = this.#waiting.get(callId);
    if (resolve === undefined) return;
    this.#waiting.delete(callId);
    if (decision.type === 'allow') this.#running.push(callId);
    resolve(decision);
  }

  activity(activity: ToolActivity | null): void {
    if (activity !== null) {
      this.#unapproved.push(activity);
      return;
    }
    const finished = this.#unapproved.shift();
    if (finished !== undefined && this.#running.length === 0) this.#reportUnapproved(finished);
    else this.#end(this.#running.shift());
  }

  finish(response: AgentResponse): Omit<BackendResult, 'durationMs'> {
    this.#endRunning();
    this.giveUp();
    const { content, sessionId, cost, numTurns, isError, usage = noUsage } = response;
    if (sessionId !== null) this.#tell({ type: 'session', id: sessionId });
    const facts = { ...noWork, turns: numTurns, toolCalls: this.#toolCalls, usd: cost, usage };
    const result = { ...facts, output: content, ...(sessionId !== null && { cliSessionId: sessionId }) };
    if (!isError) return { ...result, status: 'completed' };
    return { ...result, status: 'failed', error: new AgentError(failureOf({ message: content }, 'agent')) };
  }

  /** Ends the waiting for decisions: none will follow. */
  giveUp(): void {
    this.#isOver = true;
    for (const resolve of this.#waiting.values()) resolve({ type: 'deny', message: 'The run was stopped.' });
    this.#waiting.clear();
  }

  #begin(callId: string, toolName: string, input: Record<string, unknown>): void {
    this.#toolCalls += 1;
    this.#tell({ type: 'part', part: { type: 'tool_call', id: callId, toolName, arguments: input } });
    this.#tell({ type: 'answered' });
  }

  /** Reports a tool without approval, whose call is known only when it ends. */
  #reportUnapproved({ toolName, description }: ToolActivity): void {
    const callId = this.#nextId();
    this.#begin(callId, toolName, { description });
    this.#end(callId);
  }

  #endRunning(): void {
    for (const callId of this.#running.splice(0)) this.#end(callId);
    for (const activity of this.#unapproved.splice(0)) this.#reportUnapproved(activity);
  }

  #end(callId: string | undefined): void {
    if (callId !== undefined) this.#tell({ type: 'result', callId, text: '(done)', isError: false });
  }

  #nextId(): string {
    this.#calls += 1;
    return `call-${this.#calls}`;
  }
}

function failedResult(error: AgentErrorType): Omit<BackendResult, 'durationMs'> {
  return { ...noWork, status: 'failed', output: error.message, error };
}

function cancelledResult(name: string): Pick<BackendResult, 'status' | 'error'> {
  return {
    status: 'cancelled',
    error: new AgentError({ kind: 'aborted', code: 'cancelled', message: `${name} was cancelled.` }),
  };
}

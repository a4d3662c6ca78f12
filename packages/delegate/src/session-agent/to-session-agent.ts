import type { ApprovalDecision, Gate, Run, RunEvent, RunResult } from '@cobbler/agent';
import { AgentError, textOf } from '@cobbler/agent';
import type { Harness } from '@cobbler/agent/harness';
import type { Reader } from '@cobbler/agent/input';
import { read, text, withMethods } from '@cobbler/agent/input';
import { defined } from '@cobbler/agent/values';
import { askForDecision } from '../backend/call-decision.ts';
import { activityText } from './activity-text.ts';
import type { AgentResponse, AgentSession, ExecuteCallbacks, SessionAgent } from './session-agent.ts';
import {
  agentResponse,
  busyText,
  cancelledText,
  quietly,
  readCallbacks,
  readSession,
  toolActivity,
} from './session-agent.ts';

/** Opens the conversation of a session. The gate submits every call to the `canUseTool` callback. */
export type OpenHarness = (session: AgentSession, gate: Gate) => Harness;

/**
 * Converts a harness to a session agent. A harness is one conversation, which all sessions share; a function creates a
 * conversation for each session. With an existing harness, `canUseTool` decides only on the calls for which the gate
 * of the harness asks the user; with a harness that the function creates with the given gate, it decides on every
 * call.
 * @throws AgentError `invalid` for a value that is neither a harness nor a function.
 */
export function toSessionAgent(harness: Harness | OpenHarness): SessionAgent {
  if (typeof harness === 'function') return new HarnessAgent(harness);
  const opened = read(harness, readHarness, 'harness');
  return new HarnessAgent(() => opened);
}

const readHarness: Reader<Harness> = withMethods('prompt', 'resume', 'cancel', 'close');

/** A session and its conversation. */
interface OpenSession {
  readonly harness: Harness;
  callbacks: ExecuteCallbacks;
  isBusy: boolean;
}

class HarnessAgent implements SessionAgent {
  readonly #openHarness: OpenHarness;
  readonly #open: Map<string, OpenSession> = new Map();

  constructor(openHarness: OpenHarness) {
    this.#openHarness = openHarness;
  }

  async execute(
    prompt: string,
    session: AgentSession,
    callbacks: ExecuteCallbacks = {},
  ): Promise<AgentResponse> {
    read(prompt, text, 'prompt');
    const given = read(callbacks, readCallbacks, 'callbacks');
    const open = this.#openSession(read(session, readSession, 'session'));
    if (open.isBusy) throw new AgentError({ kind: 'invalid', code: 'busy', message: busyText });
    open.isBusy = true;
    open.callbacks = given;
    try {
      const reporter = new CallbackReporter(given);
      let result = await reporter.follow(open.harness.prompt(prompt));
      while (result.status === 'waiting' && given.canUseTool !== undefined) {
        const answers = await reporter.answers();
        if (answers.length === 0) break;
        result = await reporter.follow(open.harness.resume({ answers }));
      }
      // The object may be frozen.
      Reflect.set(session, 'claudeSessionId', open.harness.sessionId);
      return responseOf(result, reporter.toolsUsed);
    } finally {
      open.isBusy = false;
    }
  }

  async cancel(sessionId: string): Promise<void> {
    this.#open.get(sessionId)?.harness.cancel();
  }

  async shutdown(): Promise<void> {
    const all = [...this.#open.values()];
    this.#open.clear();
    await Promise.all(all.map(({ harness }) => harness.close()));
  }

  #openSession(session: AgentSession): OpenSession {
    const known = this.#open.get(session.sessionId);
    if (known !== undefined) return known;
    const gate: Gate = async ({ id, toolName, arguments: given, mustAsk, untrusted }, { signal }) => {
      const { canUseTool } = open.callbacks;
      if (canUseTool === undefined) return { type: 'allow' };
      return await askForDecision(
        () => canUseTool(toolName, given, { signal, callId: id, ...defined({ mustAsk, untrusted }) }),
        toolName,
        signal,
      );
    };
    const harness = read(this.#openHarness(session, gate), readHarness, 'the harness of the session');
    const open: OpenSession = { harness, callbacks: {}, isBusy: false };
    this.#open.set(session.sessionId, open);
    return open;
  }
}

/** Passes the events of runs to the callbacks, one after another. */
class CallbackReporter {
  readonly toolsUsed: string[] = [];
  readonly #callbacks: ExecuteCallbacks;
  readonly #answers: Map<string, Promise<ApprovalDecision>> = new Map();

  constructor(callbacks: ExecuteCallbacks) {
    this.#callbacks = callbacks;
  }

  async follow(run: Run): Promise<RunResult> {
    this.#answers.clear();
    for await (const event of run) await this.#tell(event, run);
    return run.result;
  }

  /** Returns the decisions about the calls that a run is waiting for. */
  async answers(): Promise<(ApprovalDecision & { approvalId: string })[]> {
    const entries = [...this.#answers];
    return Promise.all(entries.map(async ([approvalId, answer]) => ({ approvalId, ...(await answer) })));
  }

  async #tell(event: RunEvent, run: Run): Promise<void> {
    const { onTextChunk, onToolActivity } = this.#callbacks;
    if (event.type === 'assistant') {
      const text = textOf({ role: 'assistant', content: event.content });
      if (text !== '') await quietly(() => onTextChunk?.(text));
    } else if (event.type === 'tool_started') {
      this.toolsUsed.push(event.toolName);
      const activity = toolActivity(event.toolName, activityText(event.toolName, event.arguments));
      await quietly(() => onToolActivity?.(activity));
    } else if (event.type === 'tool_result' && event.notRun !== true) {
      await quietly(() => onToolActivity?.(null));
    } else if (event.type === 'approval_requested') {
      const { approvalId, toolName, arguments: given, callId } = event;
      const answer = this.#decide(toolName, given, callId);
      this.#answers.set(approvalId, answer);
      void answer.then((decided) => run.decide(approvalId, decided));
    }
  }

  async #decide(toolName: string, given: Record<string, unknown>, callId: string): Promise<ApprovalDecision> {
    const { signal } = new AbortController();
    const ask = () => this.#callbacks.canUseTool?.(toolName, structuredClone(given), { signal, callId });
    const decision = await askForDecision(ask, toolName);
    if (decision.type === 'deny') return { decision: 'deny', message: decision.message };
    if (decision.arguments === undefined) return { decision: 'allow' };
    // An approval applies only to the arguments that were submitted.
    const message = `${toolName} was not run: canUseTool changed the arguments of the call after they were submitted for approval. Change them in the harness's gate instead.`;
    return { decision: 'deny', message };
  }
}

function responseOf(result: RunResult, toolsUsed: readonly string[]): AgentResponse {
  const { metrics, sessionId, status, error, text } = result;
  const isError = status !== 'complete';
  const failed = status === 'cancelled' ? cancelledText : (error?.message ?? text);
  return agentResponse({
    content: isError ? failed : text,
    sessionId,
    cost: metrics.usd ?? 0,
    durationMs: metrics.durationMs,
    numTurns: metrics.invocations,
    toolsUsed,
    isError,
    usage: { inputTokens: metrics.totalInputTokens, outputTokens: metrics.totalOutputTokens },
  });
}

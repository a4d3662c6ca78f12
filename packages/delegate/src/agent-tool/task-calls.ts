import type { Environment, Gate, GateCall, ToolCallPart, ToolContext } from '@cobbler/agent';
import { askForVerdict } from '@cobbler/agent/harness';
import { defined } from '@cobbler/agent/values';
import type { BackendProcess } from '../backend/backend.ts';
import { askForDecision } from '../backend/call-decision.ts';
import { CallJudge } from '../backend/call-judge.ts';
import type { BackendEvent } from '../events/backend-event.ts';
import type { RegisteredSession, SessionRegistry } from './session-registry.ts';

/** What decides on the calls of programs. */
export interface CallPolicy {
  readonly registry: SessionRegistry;
  readonly gate?: Gate | undefined;
  /** Tools of the programs that can send data, and whose output is trusted. */
  readonly trusted: readonly string[];
  /** Environment from which the home directory is determined; the keys there are sealed. */
  readonly env: Environment;
}

type Asked = Extract<BackendEvent, { type: 'asked' }>;

/** The calls of one task, and the decisions about them. */
export class TaskCalls {
  readonly #session: RegisteredSession;
  readonly #policy: CallPolicy;
  readonly #askUser: ToolContext['ask'];
  readonly #judge: CallJudge;
  /** The calls as the program reported them, because not every program repeats their arguments when it asks. */
  readonly #reported = new Map<string, ToolCallPart>();

  /** @param askUser asks a user about a call for which the gate wants a decision. Absent: it is denied. */
  constructor(session: RegisteredSession, policy: CallPolicy, askUser: ToolContext['ask']) {
    this.#session = session;
    this.#policy = policy;
    this.#askUser = askUser;
    const { registry, env, trusted } = policy;
    const { id, workingDir } = session;
    this.#judge = new CallJudge({
      workingDir,
      env,
      trusted,
      untrusted: () => registry.get(id)?.untrusted,
      mark: (untrusted) => this.#mark(untrusted),
    });
  }

  /** Notes a call, or marks the session if the result of a call can contain what other people wrote. */
  note(event: BackendEvent): void {
    if (event.type === 'part' && event.part.type === 'tool_call')
      this.#reported.set(event.part.id, event.part);
    if (event.type !== 'result') return;
    if (event.untrusted === null) return;
    if (event.untrusted !== undefined) return this.#mark(event.untrusted);
    const name = this.#reported.get(event.callId)?.toolName;
    if (name !== undefined) this.#judge.noteOutput(name);
  }

  /** Decides on a call that waits for approval. Whatever fails on the way denies it. */
  async judge(request: Asked, process: BackendProcess): Promise<void> {
    const { signal } = new AbortController();
    const ask = async () => {
      const call = this.#callFor(request);
      const verdict = await askForVerdict(
        () => this.#policy.gate?.(call, { signal, session: this.#session.id }) ?? { type: 'ask' },
      );
      if (verdict.type !== 'ask' || this.#askUser === undefined) return verdict;
      const { toolName, arguments: given, subject, mustAsk } = call;
      const question = { toolName, arguments: given, subject, summary: `for ${this.#session.backend}` };
      const { decision, message = '' } = await this.#askUser({ ...question, ...defined({ mustAsk }) });
      return decision === 'allow' ? { type: 'allow' } : { type: 'deny', message };
    };
    process.decide(request.callId, await askForDecision(ask, request.toolName));
  }

  #mark(untrusted: string): void {
    const { registry } = this.#policy;
    const known = registry.get(this.#session.id);
    if (known !== undefined && known.untrusted === undefined) registry.put({ ...known, untrusted });
  }

  /**
   * Returns the call for the gate.
   * @throws if the arguments are not plain data or the working directory cannot be used
   */
  #callFor({ callId, toolName, arguments: asked }: Asked): GateCall {
    const given = structuredClone(asked);
    const whole = { ...this.#reported.get(callId)?.arguments, ...given };
    return { id: callId, toolName, arguments: given, ...this.#judge.judge(toolName, whole) };
  }
}

import type { Environment, Gate, GateCall, ToolCallPart } from '@cobbler/agent';
import type { BackendProcess } from '../backend/backend.ts';
import { askForDecision } from '../backend/call-decision.ts';
import { CallJudge } from '../backend/call-judge.ts';
import type { BackendEvent } from '../events/backend-event.ts';
import type { SessionRegistry } from './session-registry.ts';

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
  readonly #session: string;
  readonly #policy: CallPolicy;
  readonly #judge: CallJudge;
  /** The calls as the program reported them, because not every program repeats their arguments when it asks. */
  readonly #reported = new Map<string, ToolCallPart>();

  constructor(session: string, workingDir: string, policy: CallPolicy) {
    this.#session = session;
    this.#policy = policy;
    const { registry, env, trusted } = policy;
    this.#judge = new CallJudge({
      workingDir,
      env,
      trusted,
      untrusted: () => registry.get(session)?.untrusted,
      mark: (untrusted) => {
        const known = registry.get(session);
        if (known !== undefined) registry.put({ ...known, untrusted });
      },
    });
  }

  /** Notes a call, or marks the session if the result of a call can contain what other people wrote. */
  note(event: BackendEvent): void {
    if (event.type === 'part' && event.part.type === 'tool_call')
      this.#reported.set(event.part.id, event.part);
    if (event.type !== 'result') return;
    const name = this.#reported.get(event.callId)?.toolName;
    if (name !== undefined) this.#judge.noteOutput(name);
  }

  /** Decides on a call that waits for approval. Whatever fails on the way denies it. */
  async judge(request: Asked, process: BackendProcess): Promise<void> {
    const { signal } = new AbortController();
    const ask = () => {
      const call = this.#callFor(request);
      return this.#policy.gate?.(call, { signal, session: this.#session }) ?? { type: 'ask' };
    };
    process.decide(request.callId, await askForDecision(ask, request.toolName));
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

import type { Environment, Gate, GateCall, ToolCallPart } from '@cobbler/agent';
import { defined } from '@cobbler/agent/values';
import type { BackendProcess } from '../backend/backend.ts';
import { askForDecision } from '../backend/call-decision.ts';
import type { ProxyTarget } from '../backend/proxy-tools.ts';
import { callFacts, placeIn } from '../backend/proxy-tools.ts';
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
  readonly #place: () => ProxyTarget;
  /** The calls as the program reported them, because not every program repeats their arguments when it asks. */
  readonly #reported = new Map<string, ToolCallPart>();

  constructor(session: string, workingDir: string, policy: CallPolicy) {
    this.#session = session;
    this.#policy = policy;
    this.#place = placeIn(workingDir, policy.env);
  }

  /** Notes a call, or marks the session if the result of a call can contain what other people wrote. */
  note(event: BackendEvent): void {
    if (event.type === 'part' && event.part.type === 'tool_call')
      this.#reported.set(event.part.id, event.part);
    if (event.type !== 'result') return;
    const name = this.#reported.get(event.callId)?.toolName;
    const known = this.#policy.registry.get(this.#session);
    if (name === undefined || known === undefined || known.untrusted !== undefined) return;
    if (!this.#isTrusted(name) && callFacts(name, {}, this.#place).untrusted)
      this.#policy.registry.put({ ...known, untrusted: name });
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
    this.#place();
    const facts = callFacts(toolName, { ...this.#reported.get(callId)?.arguments, ...given }, this.#place);
    const { effect, subject } = facts;
    const untrusted = this.#policy.registry.get(this.#session)?.untrusted;
    const isAsked = untrusted !== undefined && facts.sends && !this.#isTrusted(toolName);
    const mustAsk = facts.mustAsk() ?? (isAsked ? reasonFor(untrusted) : undefined);
    return { id: callId, toolName, arguments: given, effect, subject, ...defined({ mustAsk, untrusted }) };
  }

  #isTrusted(name: string): boolean {
    return this.#policy.trusted.includes(name);
  }
}

function reasonFor(source: string): string {
  return `It can send data, and the task has read untrusted output from ${source}, which may contain instructions.`;
}

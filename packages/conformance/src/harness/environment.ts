import type { Event, Run, RunEvent, RunResult, Store } from '@cobbler/agent';
import { AgentError, isStored, systemRuntime } from '@cobbler/agent';
import type { Harness, HarnessCapabilities, HarnessHandler } from '@cobbler/agent/harness';
import { ContractFailure } from '@cobbler/agent/testing';

/** A harness to test with the agent and tools of `harnessFixture`. */
export interface HarnessSubject {
  /** Name for reports. */
  readonly name: string;
  /** The declared capabilities. Cases that need a missing one are off. */
  readonly capabilities: HarnessCapabilities;
  /**
   * Set if the program behind the harness has the fixture's tools itself: under their names, or as commands
   * of its own tool, one per response. Default: only tools passed to the harness are called.
   */
  readonly ownTools?: 'named' | 'commands';
  /** True if its environments have `refuse`. Default: cases with a store that rejects appends are off. */
  readonly refuses?: boolean;
  /** Opens a new conversation. Called once or more for each case. */
  open(options: SubjectOptions): Promise<HarnessEnvironment> | HarnessEnvironment;
}

/** The callbacks that a case passes to the harness. */
export interface SubjectOptions {
  readonly handler: HarnessHandler;
  readonly report: (error: AgentError) => void;
}

/** One conversation under test. */
export interface HarnessEnvironment {
  readonly harness: Harness;
  /** Returns the stored log of a session. */
  log(sessionId: string): Promise<readonly Event[]>;
  /** Makes the store reject every append, as a full store does, or accept appends again. */
  refuse?(isFull: boolean): Promise<void> | void;
  /** Frees the resources of the conversation. The harness may already be closed. */
  close(): Promise<void>;
}

/**
 * Returns a store that rejects appends while `isFull` returns true, for {@link HarnessEnvironment.refuse}.
 */
export function refusingStore<Kept extends Store>(store: Kept, isFull: () => boolean): Kept {
  const append: Store['append'] = (...given) => {
    if (isFull()) throw new AgentError({ kind: 'agent', code: 'no_room', message: 'The store is full.' });
    return store.append(...given);
  };
  return new Proxy(store, {
    get(target, name) {
      if (name === 'append') return append;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/** Maximum duration of any wait in a case, in milliseconds, on an overloaded machine too. */
const waitTimeoutMs = 60_000;

/** Waits, with a time limit. */
export function soon<Value>(pending: PromiseLike<Value>, what: string): Promise<Value> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new ContractFailure(`expected ${what} within ${waitTimeoutMs} ms`));
    const cancel = systemRuntime.timer(waitTimeoutMs, late);
    pending.then(resolve, reject);
    const done = () => cancel();
    pending.then(done, done);
  });
}

/** Returns the result of a run. */
export function endOf(run: Run): Promise<RunResult> {
  return soon(run.result, 'the end of the run');
}

/** Resolves with the first event of this type in the run. */
export function seen<Type extends RunEvent['type']>(
  run: Run,
  type: Type,
): Promise<Extract<RunEvent, { type: Type }>> {
  const look = async () => {
    for await (const event of run) {
      if (event.type === type) return event as Extract<RunEvent, { type: Type }>;
    }
    throw new ContractFailure(`expected an event of type ${type}; the run ended without one`);
  };
  return soon(look(), `an event of type ${type}`);
}

/** Returns all events of a run. */
export function eventsOf(run: Run): Promise<RunEvent[]> {
  const read = async () => {
    const events: RunEvent[] = [];
    for await (const event of run) events.push(event);
    return events;
  };
  return soon(read(), 'the end of the events');
}

/** Returns the stored events of a run. */
export async function storedOf(run: Run): Promise<Event[]> {
  return (await eventsOf(run)).filter(isStored);
}

/** Returns a handler that records what it receives. */
export function notes(): { readonly received: string[]; readonly handler: HarnessHandler } {
  const received: string[] = [];
  const handler: HarnessHandler = {
    onUser: (content) => void received.push(`user ${content}`),
    onText: (text) => void received.push(`text ${text}`),
    onReasoning: (text) => void received.push(`reasoning ${text}`),
    onToolCall: (_id, name, input) => void received.push(`call ${name} ${JSON.stringify(input)}`),
    onToolResult: (_id, result, isError) =>
      void received.push(`result ${result}${isError ? ' (error)' : ''}`),
    onStatus: (state, message) =>
      void received.push(`status ${state}${message === undefined ? '' : ` ${message}`}`),
    onUsage: ({ inputTokens, outputTokens }) => void received.push(`usage ${inputTokens} ${outputTokens}`),
  };
  return { received, handler };
}

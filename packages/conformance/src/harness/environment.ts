import type { Event, Harness, Run, RunEvent, RunResult, Store } from '@cobbler/agent';
import { AgentError, isStored, systemRuntime } from '@cobbler/agent';
import type { HarnessCapabilities, HarnessHandler } from '@cobbler/agent/harness';
import { ContractFailure } from '@cobbler/agent/testing';

/** A harness under contract, over the scene of `harnessFixture`. */
export interface HarnessSubject {
  /** For reports only: no case looks at it. */
  readonly name: string;
  /** What it declares; what it lacks switches cases off. */
  readonly capabilities: HarnessCapabilities;
  /**
   * The program behind it has the tools of the scene itself: under their names, or as commands of a tool of its
   * own, one to an answer. Default: only tools given to the harness are called.
   */
  readonly ownTools?: 'named' | 'commands';
  /** Its stands have `refuse`. Default: cases of a store that refuses what it is given are off. */
  readonly refuses?: boolean;
  /** Opens a new conversation. Called once or more for each case. */
  open(options: SubjectOptions): Promise<HarnessEnvironment> | HarnessEnvironment;
}

/** What a case wants to hear from the harness that it tries. */
export interface SubjectOptions {
  readonly handler: HarnessHandler;
  readonly report: (error: AgentError) => void;
}

/** One conversation under contract. */
export interface HarnessEnvironment {
  readonly harness: Harness;
  /** The log of a session as it is stored. */
  log(sessionId: string): Promise<readonly Event[]>;
  /** From now on the store refuses whatever is appended, as one does that has no room, or takes it again. */
  refuse?(isFull: boolean): Promise<void> | void;
  /** Frees what the conversation holds. The harness may be closed already. */
  close(): Promise<void>;
}

/** A store that refuses what is appended for as long as `isFull` says so: for {@link HarnessEnvironment.refuse}. */
export function refusingStore<Kept extends Store>(store: Kept, isFull: () => boolean): Kept {
  const append: Store['append'] = (...given) => {
    if (isFull()) throw new AgentError({ kind: 'agent', code: 'no_room', message: 'There is no room.' });
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

/** How long anything in a case may take, in milliseconds, on a busy machine too. */
const patienceMs = 60_000;

/** Waits, but not for ever. */
export function soon<Value>(pending: PromiseLike<Value>, what: string): Promise<Value> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new ContractFailure(`expected ${what} within ${patienceMs} ms`));
    const cancel = systemRuntime.timer(patienceMs, late);
    pending.then(resolve, reject);
    const done = () => cancel();
    pending.then(done, done);
  });
}

/** The result of a run. */
export function endOf(run: Run): Promise<RunResult> {
  return soon(run.result, 'the end of the run');
}

/** Resolves with the first event of this kind, from the run's beginning. */
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

/** All events of a run, from its beginning to its end. */
export function eventsOf(run: Run): Promise<RunEvent[]> {
  const read = async () => {
    const events: RunEvent[] = [];
    for await (const event of run) events.push(event);
    return events;
  };
  return soon(read(), 'the end of the events');
}

/** The stored events of a run. */
export async function storedOf(run: Run): Promise<Event[]> {
  return (await eventsOf(run)).filter(isStored);
}

/** A handler that writes down what it hears. */
export function notes(): { readonly heard: string[]; readonly handler: HarnessHandler } {
  const heard: string[] = [];
  const handler: HarnessHandler = {
    onUser: (content) => void heard.push(`user ${content}`),
    onText: (text) => void heard.push(`text ${text}`),
    onReasoning: (text) => void heard.push(`reasoning ${text}`),
    onToolCall: (_id, name, input) => void heard.push(`call ${name} ${JSON.stringify(input)}`),
    onToolResult: (_id, result, isError) => void heard.push(`result ${result}${isError ? ' (error)' : ''}`),
    onStatus: (state, message) =>
      void heard.push(`status ${state}${message === undefined ? '' : ` ${message}`}`),
    onUsage: ({ inputTokens, outputTokens }) => void heard.push(`usage ${inputTokens} ${outputTokens}`),
  };
  return { heard, handler };
}

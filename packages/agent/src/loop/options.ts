import type { ContextPolicy } from '../context/context.ts';
import type { EventBody, RunEvent } from '../events/event.ts';
import type { State } from '../events/state.ts';
import type { Agent, RequestConfig } from '../interfaces/agent.ts';
import type { Gate } from '../interfaces/gate.ts';
import type { Budget, defaultLimits, Limits, Pricing } from '../interfaces/limits.ts';
import type { OutputOption, OutputPlan } from '../interfaces/output.ts';
import type { Tool } from '../interfaces/tool.ts';
import type { Store } from '../store/store.ts';
import type { Runtime } from '../values/runtime.ts';
import type { NamedDecision } from './approval-decision.ts';
import type { Prompt } from './prompt.ts';

/** What an executor needs. Only the agent has no default. */
export interface ExecutorOptions {
  readonly agent: Agent;
  readonly tools?: readonly Tool[];
  /** Instructions: stable parts first, parts that change last. */
  readonly system?: string | readonly string[];
  /** What every request asks for besides its messages. */
  readonly request?: RequestConfig;
  readonly limits?: Limits;
  /** What a reached limit does: end the run, or allow one closing answer without tools. Default `return`. */
  readonly onLimit?: 'return' | 'finalize';
  /** After a failed tool: go on with the batch, or leave the rest of it unrun. Default `continue`. */
  readonly toolErrors?: 'continue' | 'stop-batch';
  /** Whether neighbouring `read` tools run together. Default `parallel`. */
  readonly toolScheduling?: 'parallel' | 'sequential';
  /** Default `allowAll`: the tools are the caller's own. */
  readonly gate?: Gate;
  /** Whether a user who watches the run answers its approvals. Without, an `ask` ends it as `waiting`. */
  readonly attended?: boolean;
  /** How long an approval may be answered, in milliseconds; then it counts as denied. Default: for ever. */
  readonly approvalMs?: number;
  /** How the conversation is kept small enough. Default: not at all. */
  readonly context?: ContextPolicy;
  readonly pricing?: Pricing;
  /** Run under a money limit although the model's price is unknown. Default false. */
  readonly allowUnpriced?: boolean;
  /** Default: in memory, for this executor only, and no more than the last 1,000 sessions. */
  readonly store?: Store;
  /** How long the store may take for one append, in milliseconds. Default 5,000. */
  readonly storeTimeoutMs?: number;
  readonly runtime?: Runtime;
}

/** What may differ from run to run. */
export interface RunOptions<Output = unknown> {
  /** Aborting it cancels the run. */
  readonly signal?: AbortSignal;
  /** Called synchronously with every event, stored or live, from the first on. */
  readonly onEvent?: (event: RunEvent) => void;
  readonly output?: OutputOption<Output>;
  /** Goes on with this session of the store, or gives a new one its id. Default: a new session. */
  readonly sessionId?: string;
  /** An id for the run that no run of the session had before. Default: a new one. */
  readonly runId?: string;
  /** The budget of the work that this run is a part of. Default: a budget of the run's own limits. */
  readonly budget?: Budget;
}

/** What may be said when a session is taken up again. */
export interface ResumeOptions<Output = unknown> extends Omit<RunOptions<Output>, 'sessionId'> {
  /** Decisions about approvals that the session waits for. One that is no longer open changes nothing. */
  readonly answers?: readonly NamedDecision[];
}

/** Which run goes on, and with what. */
export interface AdvanceOptions<Output = unknown> extends Omit<RunOptions<Output>, 'sessionId' | 'runId'> {
  readonly sessionId: string;
  /** Names the run: the same for all its actions, different from that of any other run of the session. */
  readonly runId: string;
  /** What the run begins with; of no account once it has begun. Absent: the session is taken up where it stands. */
  readonly prompt?: Prompt;
  /** Decisions about approvals that the run waits for. */
  readonly answers?: readonly NamedDecision[];
}

/** What has a default in {@link ExecutorOptions}. */
type Defaulted =
  | 'tools'
  | 'request'
  | 'onLimit'
  | 'toolErrors'
  | 'toolScheduling'
  | 'gate'
  | 'attended'
  | 'pricing'
  | 'allowUnpriced'
  | 'store'
  | 'storeTimeoutMs'
  | 'runtime';

/** What one run is made of: the options of executor and run with every default applied. Frozen. */
export interface RunConfig<Output = unknown>
  extends Omit<ExecutorOptions, Defaulted | 'limits'>,
    Required<Pick<ExecutorOptions, Defaulted>> {
  readonly sessionId: string;
  readonly runId: string;
  readonly limits: Limits & typeof defaultLimits;
  readonly budget: Budget;
  /** Whether the budget is the run's own, so that what the run spent in other processes counts towards it. */
  readonly hasOwnBudget: boolean;
  readonly output?: OutputPlan<Output>;
  readonly signal?: AbortSignal;
  readonly onEvent?: (event: RunEvent) => void;
  /** What the session is before the run: `new` without asking the store, `old` only if the store has it. */
  readonly session: 'new' | 'old' | 'either';
  /** How many calls of a batch one step runs: all of them, or one when each step may run in a process of its own. */
  readonly callsPerStep: number;
  /**
   * Returns the first events, in view of what the session holds. Pure.
   * @throws AgentError `invalid` when the session cannot be continued.
   */
  readonly open: (state: State) => readonly EventBody[];
}

import type { AskedCompaction } from '../context/compaction.ts';
import type { ContextPolicy } from '../context/context.ts';
import type { EventBody, RunEvent } from '../events/event.ts';
import type { State } from '../events/state.ts';
import type { Agent, RequestConfig } from '../interfaces/agent.ts';
import type { Budget } from '../interfaces/budget.ts';
import type { Gate } from '../interfaces/gate.ts';
import type { defaultLimits, Limits, Pricing } from '../interfaces/limits.ts';
import type { OutputOption, OutputPlan } from '../interfaces/output.ts';
import type { Tool, ToolEffect, ToolWait } from '../interfaces/tool.ts';
import type { Store } from '../store/store.ts';
import type { Runtime } from '../values/runtime.ts';
import type { NamedDecision } from './approvals.ts';
import type { Hook } from './hook.ts';
import type { Prompt } from './prompt.ts';

/** A tool with a literal name, or `Tool`: so the compiler reports unknown fields of a tool written as an object. */
type Known<Each extends Tool> = string extends Each['name'] ? Tool : Each;

/** Options of an executor. Only the agent has no default. */
export interface ExecutorOptions<Tools extends Tool = Tool> {
  readonly agent: Agent;
  readonly tools?: readonly Known<Tools>[];
  /** Instructions: stable parts first, parts that change last. */
  readonly system?: string | readonly string[];
  /** Settings of every model request. */
  readonly request?: RequestConfig;
  readonly limits?: Limits;
  /** The budget of all runs without a budget of their own. The limits apply too. Default: none. */
  readonly budget?: Budget;
  /** Effect of reaching a limit: end the run, or request one closing response without tools. Default `return`. */
  readonly onLimit?: 'return' | 'finalize';
  /**
   * Effect of a limit on tokens or money, or of a budget of a store, that leaves too little for the next request: end the
   * run, or ask a user whether it continues with more. The question is an approval with `limit`. Default `end`.
   */
  readonly onReached?: 'end' | 'ask';
  /** Effect of a failed tool: continue with the batch, or skip the rest of it. Default `continue`. */
  readonly toolErrors?: 'continue' | 'stop-batch';
  /** Scheduling of consecutive `read` tools. Default `parallel`. */
  readonly toolScheduling?: 'parallel' | 'sequential';
  /** Maximum number of `read` tools that run at the same time; the others wait, in order. Default 16; 0 is the same as 1. */
  readonly toolConcurrency?: number;
  /** Decides on tool calls. Default `allowAll`, because the caller provides the tools. */
  readonly gate?: Gate;
  /** Hooks, which change what a run does, in the order in which they are called. Default: none. */
  readonly hooks?: readonly Hook[];
  /** True if a user can decide on approvals during the run. Otherwise an `ask` ends it as `waiting`. Default false. */
  readonly attended?: boolean;
  /**
   * Time in milliseconds after which a pending approval counts as denied. Default: no limit, so an attended run waits until
   * a user decides or the run is cancelled.
   */
  readonly approvalMs?: number;
  /** Options that keep the conversation small enough. Default: none. */
  readonly context?: ContextPolicy;
  readonly pricing?: Pricing;
  /** The user that the runs are for; every event contains this name. Default: the user of the session's last run. */
  readonly user?: string;
  /** Allows a money limit although the price of the model is unknown. Default false. */
  readonly allowUnpriced?: boolean;
  /** Stores the sessions. Default: in memory, for this executor only, with at most the last 1,000 sessions and 64 MiB. */
  readonly store?: Store;
  /** Maximum time of one append to the store, in milliseconds. Default 5,000. */
  readonly storeTimeoutMs?: number;
  readonly runtime?: Runtime;
}

/** Options of one run. */
export interface RunOptions<Output = unknown> {
  /** Aborting it cancels the run. */
  readonly signal?: AbortSignal;
  /** Called synchronously with every event of the run, stored or live. */
  readonly onEvent?: (event: RunEvent) => void;
  readonly output?: OutputOption<Output>;
  /** A stored session to continue, or the id of a new one. Default: a new session. */
  readonly sessionId?: string;
  /** Id of the run. No earlier run of the session may have the same id. Default: a new one. */
  readonly runId?: string;
  /** The user that the run is for. Default: the user of the executor, or else of the session's last run. */
  readonly user?: string;
  /** The budget of the work that this run is a part of. The executor's limits apply too. Default: the executor's budget. */
  readonly budget?: Budget;
}

/** Options for resuming a session. */
export interface ResumeOptions<Output = unknown> extends Omit<RunOptions<Output>, 'sessionId'> {
  /** Decisions about approvals that the session waits for. A decision about one that is no longer open has no effect. */
  readonly answers?: readonly NamedDecision[];
  /**
   * Shortens the conversation and ends the run, instead of continuing the work. Without `context.compact`, nothing is
   * shortened. Fails with kind `invalid`, code `open_calls`, while tool calls wait.
   */
  readonly compact?: AskedCompaction;
}

/** Options of one action of a run. */
export interface AdvanceOptions<Output = unknown> extends Omit<RunOptions<Output>, 'sessionId' | 'runId'> {
  readonly sessionId: string;
  /** The id of the run: the same for all its actions, and different from that of any other run of the session. */
  readonly runId: string;
  /** The prompt that starts the run; ignored once it has started. Absent: the session is resumed. */
  readonly prompt?: Prompt;
  /** Decisions about approvals that the run waits for. */
  readonly answers?: readonly NamedDecision[];
  /**
   * Ends the wait that the last action returned as `waitUntil`: `time` if it is over by the caller's clock, `message` to end
   * it early. Default: the wait is over when `runtime.now()` reaches its end.
   */
  readonly waitEnded?: ToolWait['endedBy'];
}

/** Options of a tool that runs an executor. */
export interface AsToolOptions<Name extends string = string>
  extends Pick<Tool<Name>, 'name' | 'description' | 'maxOutputBytes' | 'mayRepeat' | 'locks'> {
  /** Side effects. Default: `read` if all tools of the executor are `read`, otherwise `once`. */
  readonly effect?: ToolEffect;
  /** Time limit in milliseconds. Default: `limits.ms` of the executor. */
  readonly timeoutMs?: number;
  /** The shape of the response. Default: text. */
  readonly output?: OutputOption<unknown>;
}

/** The arguments of a tool that runs an executor. */
export interface SubAgentArgs {
  readonly prompt: string;
}

/** The fields of {@link ExecutorOptions} that have a default. */
type DefaultedOption =
  | 'tools'
  | 'request'
  | 'onLimit'
  | 'onReached'
  | 'toolErrors'
  | 'toolScheduling'
  | 'toolConcurrency'
  | 'gate'
  | 'hooks'
  | 'attended'
  | 'pricing'
  | 'allowUnpriced'
  | 'store'
  | 'storeTimeoutMs'
  | 'runtime';

/** The configuration of one run: the options of executor and run with all defaults applied. Frozen. */
export interface RunConfig<Output = unknown>
  extends Omit<ExecutorOptions, DefaultedOption | 'limits'>,
    Required<Pick<ExecutorOptions, DefaultedOption>> {
  readonly sessionId: string;
  readonly runId: string;
  readonly limits: Limits & typeof defaultLimits;
  /** The budget of this run alone, with its limits, inside the shared one if there is one. */
  readonly budget: Budget;
  readonly output?: OutputPlan<Output>;
  readonly signal?: AbortSignal;
  readonly onEvent?: (event: RunEvent) => void;
  /** The session before the run: `new` does not exist in the store, `old` must exist, `either` may exist. */
  readonly session: 'new' | 'old' | 'either';
  /** Number of calls of a batch that one step runs: all of them, or one if each step can run in another process. */
  readonly callsPerStep: number;
  /** See {@link ResumeOptions}. */
  readonly compact?: AskedCompaction | undefined;
  /** See {@link AdvanceOptions}. */
  readonly waitEnded?: ToolWait['endedBy'] | undefined;
  /**
   * Returns the first events of the run for the state of the session. Pure.
   * @throws AgentError `invalid` if the session cannot be continued.
   */
  readonly open: (state: State) => readonly EventBody[];
}

import type { ApprovalRequestedEvent, RunEvent } from '../events/event.ts';
import { checkMore } from '../events/limit-question.ts';
import type { State } from '../events/state.ts';
import { openRequests } from '../events/state.ts';
import type { Executor } from '../loop/executor.ts';
import type { ApprovalDecision } from '../run/approvals.ts';
import type { AdvanceOptions } from '../run/options.ts';
import { outcomeOf } from '../run/result.ts';
import type { RunResult } from '../run/run.ts';
import { openSession, readStore } from '../store/open-session.ts';
import type { Store } from '../store/store.ts';
import { defined } from '../values/defined.ts';
import { AgentError } from '../values/errors.ts';
import { amount, any, callable, oneOf, read, record, text, withMethods } from '../values/input.ts';
import type { Json } from '../values/json.ts';
import { isObject } from '../values/json.ts';
import type { Message, UserPart } from '../values/message.ts';
import { timeOf } from '../values/runtime.ts';
import type { StepCall, StepSettings, Steps } from './runner.ts';
import { isWaiting } from './workflow-call.ts';

/** The first input of a run: a string, the parts of a message, or whole messages. */
export type SteppedPrompt = string | readonly UserPart[] | readonly Message[];

/** A run that a workflow executes with one step per action. */
export interface SteppedTask {
  readonly executor: Pick<Executor, 'advance'>;
  /** The store of the executor. */
  readonly store: Store;
  readonly sessionId: string;
  /** The user that the run is for. Default: the user of the executor, or else of the session's last run. */
  readonly user?: string;
  /**
   * The first input of the run, or a function that returns it; the function is called in each step, and its
   * result is ignored after the run has started.
   */
  readonly prompt?: SteppedPrompt | (() => SteppedPrompt | Promise<SteppedPrompt>);
  /** Without a prompt: the user's decisions since the session started waiting. */
  readonly answers?: NonNullable<AdvanceOptions['answers']>;
  /**
   * Settings of each action's step. Default: three retries with a first delay of one second, and a timeout of twenty
   * minutes per attempt.
   */
  readonly settings?: StepSettings;
  /** Receives events, in the process in which they occur. */
  readonly onEvent?: (event: RunEvent) => void;
  /**
   * Requests a decision about a call from the user, in a separate step. It may be called again until the decision has
   * come, so repeating a request must change nothing. Send the decision to the run as a
   * signal named {@link approvalSignal}, as `{ decision: 'allow' | 'deny', message?, more? }`.
   */
  readonly ask?: (request: ApprovalRequestedEvent, call: StepCall) => void | Promise<void>;
  /** The behavior if a run needs a decision: the workflow waits, or the run ends as waiting. Default `wait`. */
  readonly whenAsked?: 'wait' | 'end';
  /** Time limit for a decision. Default one day; then the call is denied. */
  readonly approvalMs?: number;
}

const defaultSettings: StepSettings = { retry: { retries: 3, firstMs: 1000 }, timeoutMs: 1_200_000 };

/** Retries, because the user may be unreachable for some minutes. */
const asking: StepSettings = { retry: { retries: 8, firstMs: 1000 }, timeoutMs: 60_000 };

/** Returns the name of the signal for the decision about an approval. */
export function approvalSignal(approvalId: string): string {
  return `approval/${read(approvalId, text, 'approvalId')}`;
}

/**
 * Returns the name of the signal that ends the wait of a call early; its value is ignored. `seq` is the sequence number of
 * the call's `tool_started` event, which has the end of the wait in `waitUntil`.
 */
export function waitSignal(seq: number): string {
  return `wait/${read(seq, amount, 'seq')}`;
}

const steppedTask = record<SteppedTask>(
  {
    executor: withMethods('advance'),
    store: readStore,
    sessionId: text,
    user: text,
    // The executor and the steps read these.
    ...{ prompt: any, answers: any, settings: any },
    onEvent: callable,
    ask: callable,
    whenAsked: oneOf('wait', 'end'),
    approvalMs: amount,
  },
  ['executor', 'store', 'sessionId'],
);

/**
 * Runs a task with each model request and each tool call as a separate step. The session's log is the only record of
 * the run: whichever process calls it again continues after the last action of the log. A run that waits for a
 * decision, or until a time, needs no process.
 * @throws AgentError like `Steps` and `Executor.advance`. The result contains how the run ended.
 */
export async function runInSteps(steps: Steps, given: SteppedTask): Promise<RunResult> {
  const task = read(given, steppedTask, 'task');
  const { settings = defaultSettings, store, sessionId, whenAsked = 'wait' } = task;
  const { runId } = read(steps, withMethods<Steps>('run', 'waitFor', 'checkpoint'), 'steps');
  const decide = async () => {
    if (whenAsked === 'end') return undefined;
    const state = await openSession(store, sessionId);
    return waits(state, runId) ? await decisions(steps, task, state) : undefined;
  };
  // A wait may be over, or a crash may have come between a decision and its record.
  let next: Next = { answers: (await decide()) ?? task.answers ?? [] };
  for (;;) {
    const input = next;
    const act = (call: StepCall) => advance(task, { runId, ...input, signal: call.signal });
    const { isOver, seq, waitUntil } = await steps.run('act', act, settings);
    next = {};
    if (waitUntil !== undefined) {
      const sent = await steps.waitFor(waitSignal(seq), { until: waitUntil });
      next = { waitEnded: sent === undefined ? 'time' : 'message' };
    } else if (!isOver) await steps.checkpoint();
    else {
      const decided = await decide();
      if (decided === undefined) return outcomeOf(await openSession(store, sessionId), { sessionId, runId });
      next = { answers: decided };
    }
  }
}

type Answers = NonNullable<AdvanceOptions['answers']>;

/** The input since the last action. */
type Next = Pick<AdvanceOptions, 'answers' | 'waitEnded'>;

/** The outcome of an action: the end or a wait for a user if `isOver`; otherwise the next action, at `waitUntil` or now. */
interface ActionResult {
  readonly isOver: boolean;
  /** The position in the session. */
  readonly seq: number;
  readonly waitUntil?: number;
}

async function advance(
  { executor, sessionId, user, prompt, onEvent }: SteppedTask,
  options: Pick<AdvanceOptions, 'runId' | 'signal'> & Next,
): Promise<ActionResult> {
  const begins = typeof prompt === 'function' ? await prompt() : prompt;
  const advanced = await executor.advance({
    ...options,
    ...defined({ user, onEvent, prompt: begins }),
    sessionId,
  });
  if (advanced.over) return { isOver: true, seq: 0 };
  const { seq, waitUntil } = advanced;
  return { isOver: false, seq, ...defined({ waitUntil }) };
}

function waits({ runId, finished }: State, own: string): boolean {
  return runId === own && finished?.status === 'waiting';
}

/** Returns the decisions that a run waits for; the call of the workflow ends if one of them is missing. */
async function decisions(
  steps: Steps,
  { ask, approvalMs = 86_400_000 }: SteppedTask,
  state: State,
): Promise<Answers> {
  const answers: Answers[number][] = [];
  const open: { readonly request: ApprovalRequestedEvent; readonly wait: unknown }[] = [];
  // While a run waits, its last event stays the same, so every process computes the same end.
  const until = timeOf(state.time) + approvalMs;
  for (const request of openRequests(state)) {
    const { approvalId } = request;
    try {
      const value = await steps.waitFor(approvalSignal(approvalId), { until });
      answers.push({ approvalId, ...decisionOf(value, request) });
    } catch (thrown) {
      if (!isWaiting(thrown)) throw thrown;
      open.push({ request, wait: thrown });
    }
  }
  if (ask !== undefined)
    for (const { request } of open)
      await steps.run(`ask/${request.approvalId}`, (call) => ask(request, call), asking);
  const [first] = open;
  if (first !== undefined) throw first.wait;
  return answers;
}

/** Converts a signal to a decision: anything but an explicit `allow`, with a valid amount, denies. */
function decisionOf(value: Json | undefined, request: ApprovalRequestedEvent): ApprovalDecision {
  if (value === undefined) return { decision: 'deny', message: 'No decision was made in time.' };
  const { decision, message, more } = isObject(value) ? value : {};
  if (decision === 'allow') {
    if (more === undefined || request.limit === undefined) return { decision };
    const answer = { decision, more: more as number } as const;
    try {
      checkMore(request, answer);
      return answer;
    } catch (thrown) {
      return { decision: 'deny', message: AgentError.from(thrown).message };
    }
  }
  return { decision: 'deny', ...(typeof message === 'string' && { message }) };
}

import type { ApprovalRequestedEvent, RunEvent } from '../events/event.ts';
import type { Executor } from '../loop/executor.ts';
import type { AdvanceOptions } from '../loop/options.ts';
import { outcomeOf } from '../loop/result.ts';
import type { RunResult } from '../loop/run.ts';
import { openSession } from '../store/open-session.ts';
import type { Store } from '../store/store.ts';
import { defined } from '../values/defined.ts';
import type { Json } from '../values/json.ts';
import { isObject } from '../values/json.ts';
import type { Message, UserPart } from '../values/message.ts';
import type { StepCall, StepSettings, Steps } from './runner.ts';

/** The first input of a run: a string, the parts of a message, or whole messages. */
export type SteppedPrompt = string | readonly UserPart[] | readonly Message[];

/** A run that a workflow executes with one step per action. */
export interface SteppedTask {
  readonly executor: Pick<Executor, 'advance'>;
  /** The store of the executor. */
  readonly store: Store;
  readonly sessionId: string;
  /**
   * The first input of the run, or a function that returns it; the function is called in each step and must always
   * return the same.
   */
  readonly prompt?: SteppedPrompt | (() => SteppedPrompt | Promise<SteppedPrompt>);
  /** Without a prompt: the user's decisions since the session started waiting. */
  readonly answers?: NonNullable<AdvanceOptions['answers']>;
  /** Prefix of the step names. Default `act`; a workflow with several tasks needs a different one for each. */
  readonly name?: string;
  /**
   * Settings of each action's step. Default: three retries with a first delay of one second, and a timeout of twenty
   * minutes per attempt.
   */
  readonly settings?: StepSettings;
  /** Receives events, in the process in which they occur. */
  readonly onEvent?: (event: RunEvent) => void;
  /**
   * Requests a decision about a call from the user, in a separate step. Send the decision to the run as a signal named
   * {@link approvalSignal}, as `{ decision: 'allow' | 'deny', message? }`.
   */
  readonly ask?: (request: ApprovalRequestedEvent, call: StepCall) => void | Promise<void>;
  /** The behavior if a run needs a decision: the workflow waits, or the run ends as waiting. Default `wait`. */
  readonly whenAsked?: 'wait' | 'end';
  /** Time limit for a decision. Default one day; then the call is denied. */
  readonly approvalMs?: number;
}

/** The result of a step: only the progress of the run, because the messages are in the session's log. */
type RunProgress = { over: boolean; waiting: Json[] };

const defaultSettings: StepSettings = { retry: { retries: 3, firstMs: 1000 }, timeoutMs: 1_200_000 };

/** Retries, because the user may be unreachable for some minutes. */
const asking: StepSettings = { retry: { retries: 8, firstMs: 1000 }, timeoutMs: 60_000 };

/** Returns the name of the signal for the decision about an approval. */
export function approvalSignal(approvalId: string): string {
  return `approval/${approvalId}`;
}

/**
 * Runs a task with each model request and each tool call as a separate step, so that no completed action runs again,
 * whichever process continues it. Each step is one `Executor.advance`, and a run that waits for a decision needs no
 * process.
 * @throws AgentError like `Steps.run` and `Executor.advance`. The result contains how the run ended.
 */
export async function runInSteps(steps: Steps, task: SteppedTask): Promise<RunResult> {
  const { name = 'act', settings = defaultSettings, store, sessionId } = task;
  let answers: Answers = task.answers ?? [];
  for (let count = 1; ; count += 1) {
    const given = answers;
    const { value } = await steps.run<RunProgress>(
      `${name}/${count}`,
      (call) => advance(task, { runId: steps.runId, answers: given, signal: call.signal }),
      settings,
    );
    answers = [];
    if (!value.over) continue;
    if (value.waiting.length === 0 || task.whenAsked === 'end')
      return outcomeOf(await openSession(store, sessionId), { sessionId, runId: steps.runId });
    // The step's value was created from such events by this code.
    answers = await decisions(steps, task, value.waiting as unknown as ApprovalRequestedEvent[]);
  }
}

type Answers = NonNullable<AdvanceOptions['answers']>;

async function advance(
  { executor, sessionId, prompt, onEvent }: SteppedTask,
  options: Pick<AdvanceOptions, 'runId' | 'answers' | 'signal'>,
): Promise<RunProgress> {
  const begins = typeof prompt === 'function' ? await prompt() : prompt;
  const listener = onEvent === undefined ? {} : { onEvent };
  const beginning = begins === undefined ? {} : { prompt: begins };
  const advanced = await executor.advance({ ...options, ...listener, ...beginning, sessionId });
  if (!advanced.over || advanced.result.status !== 'waiting') return { over: advanced.over, waiting: [] };
  return { over: true, waiting: advanced.result.approvals.map(plain) };
}

async function decisions(
  steps: Steps,
  { ask, approvalMs = 86_400_000 }: SteppedTask,
  waiting: readonly ApprovalRequestedEvent[],
): Promise<Answers> {
  if (ask !== undefined) {
    for (const request of waiting) {
      const asks = async (call: StepCall) => {
        await ask(request, call);
        return null;
      };
      await steps.run(`ask/${request.approvalId}`, asks, asking);
    }
  }
  const answers: Answers[number][] = [];
  for (const { approvalId } of waiting) {
    const said = await steps.waitFor(approvalSignal(approvalId), { timeoutMs: approvalMs });
    answers.push({ approvalId, ...decisionOf(said) });
  }
  return answers;
}

/** Converts a signal to a decision: anything but an explicit `allow` denies. */
function decisionOf(said: Json | undefined): { decision: 'allow' | 'deny'; message?: string } {
  if (said === undefined) return { decision: 'deny', message: 'No decision was made in time.' };
  if (!isObject(said) || said['decision'] !== 'allow') {
    const message = isObject(said) && typeof said['message'] === 'string' ? said['message'] : undefined;
    return { decision: 'deny', ...defined({ message }) };
  }
  return { decision: 'allow' };
}

function plain(request: ApprovalRequestedEvent): Json {
  return JSON.parse(JSON.stringify(request)) as Json;
}

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

/** What a run begins with: a text, the pieces of a message, or whole messages. */
export type SteppedPrompt = string | readonly UserPart[] | readonly Message[];

/** A run that a routine has done, one action a step. */
export interface SteppedTask {
  readonly executor: Pick<Executor, 'advance'>;
  /** The executor's own. */
  readonly store: Store;
  readonly sessionId: string;
  /** What the run begins with, or how to come by it: asked for in each step, and then always the same. */
  readonly prompt?: SteppedPrompt | (() => SteppedPrompt | Promise<SteppedPrompt>);
  /** With no prompt: what people have decided since the session began to wait. */
  readonly answers?: NonNullable<AdvanceOptions['answers']>;
  /** Begins the names of the steps. Default `act`: what a routine with more than one task has to tell apart. */
  readonly name?: string;
  /** For each action. Default: three more tries, from a second on, within twenty minutes each. */
  readonly settings?: StepSettings;
  /** Hears what happens, in whichever process it does. */
  readonly onEvent?: (event: RunEvent) => void;
  /**
   * Asks a person about a call, in a step of its own. The answer is signalled to the run under
   * {@link approvalSignal}, as `{ decision: 'allow' | 'deny', message? }`.
   */
  readonly ask?: (request: ApprovalRequestedEvent, call: StepCall) => void | Promise<void>;
  /** What becomes of a run that needs a person: the routine waits, or the run ends as waiting. Default `wait`. */
  readonly whenAsked?: 'wait' | 'end';
  /** How long a person may think. Default one day; then the call counts as denied. */
  readonly approvalMs?: number;
}

/** What a step keeps: where the run is, not what was said. That is in the session's log. */
type RunProgress = { over: boolean; waiting: Json[] };

const defaultSettings: StepSettings = { retry: { retries: 3, firstMs: 1000 }, timeoutMs: 1_200_000 };

/** The user may be out of reach for some minutes. */
const asking: StepSettings = { retry: { retries: 8, firstMs: 1000 }, timeoutMs: 60_000 };

/** The name under which the decision about an approval is signalled. */
export function approvalSignal(approvalId: string): string {
  return `approval/${approvalId}`;
}

/**
 * Runs a task with each model request and each tool call as a step of its own, so that what is done is never
 * done again, whatever process goes on with it. The loop is the executor's: a step is `Executor.advance`, and a
 * run that waits for a person waits without a process.
 * @throws AgentError as `Steps.run` and `Executor.advance` do. How the run ended is in the result.
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
    // A step's value is what the same code made of such events.
    answers = await decisions(steps, task, value.waiting as unknown as ApprovalRequestedEvent[]);
  }
}

type Answers = NonNullable<AdvanceOptions['answers']>;

async function advance(
  { executor, store, sessionId, prompt, onEvent }: SteppedTask,
  options: Pick<AdvanceOptions, 'runId' | 'answers' | 'signal'>,
): Promise<RunProgress> {
  const begins = typeof prompt === 'function' ? await prompt() : prompt;
  const listener = onEvent === undefined ? {} : { onEvent };
  const beginning = begins === undefined ? {} : { prompt: begins };
  const advanced = await executor.advance({ ...options, ...listener, ...beginning, sessionId });
  if (!advanced.over || advanced.result.status !== 'waiting') return { over: advanced.over, waiting: [] };
  const { calls } = await openSession(store, sessionId);
  const open = calls.filter((call) => call.result === undefined && call.approval?.decision === undefined);
  return {
    over: true,
    waiting: open.flatMap(({ approval }) => (approval === undefined ? [] : [plain(approval.request)])),
  };
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

/** Only a clear permission is one. */
function decisionOf(said: Json | undefined): { decision: 'allow' | 'deny'; message?: string } {
  if (said === undefined) return { decision: 'deny', message: 'Nobody decided in time.' };
  if (!isObject(said) || said['decision'] !== 'allow') {
    const message = isObject(said) && typeof said['message'] === 'string' ? said['message'] : undefined;
    return { decision: 'deny', ...defined({ message }) };
  }
  return { decision: 'allow' };
}

function plain(request: ApprovalRequestedEvent): Json {
  return JSON.parse(JSON.stringify(request)) as Json;
}

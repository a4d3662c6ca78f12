import type {
  ErrorKind,
  ExecutorOptions,
  Limits,
  Pricing,
  ResumeOptions,
  Run,
  RunEvent,
  RunResult,
  RunStatus,
  SessionStore,
  UserPart,
} from '@cobbler/agent';
import { Executor, memoryStore } from '@cobbler/agent';
import type { Recording, RecordingControl } from '@cobbler/agent/cassette';
import { receiveRequests, sharedStore } from '@cobbler/agent/harness';
import { defined } from '@cobbler/agent/values';
import type { Permission } from '../permissions/permission.ts';
import type { Audit } from '../session/audit.ts';
import { noAudit, readsOnly, watchRules } from '../session/audit.ts';
import { BestEffortStore } from '../session/best-effort-store.ts';
import { visible } from '../terminal/escape.ts';
import type { Io, Keyboard } from '../terminal/io.ts';
import { ownName } from '../terminal/program-name.ts';
import { UsageError } from '../terminal/usage-error.ts';
import { closingLines, markOf } from '../view/closing.ts';
import type { FailureContext } from '../view/failure.ts';
import type { ApprovalRequestEvent } from '../view/ledger.ts';
import { Ledger } from '../view/ledger.ts';
import type { OutputPlan, RunOutput } from './output.ts';
import { createOutput } from './output.ts';

type NamedDecision = NonNullable<ResumeOptions['answers']>[number];

/** The session of a run and its store. */
export interface TaskSession {
  readonly id: string;
  readonly store: SessionStore;
  /** True to continue where the session stopped; false to send the prompt. */
  readonly resumes: boolean;
  /** The folder of its agent, as the user wrote it. */
  readonly agent?: string;
}

/** The complete settings of a run, shared by `run` and `demo`. */
export interface Task
  extends Omit<OutputPlan, 'model' | 'approvals'>,
    Pick<ExecutorOptions, 'agent' | 'budget' | 'hooks' | 'allowUnpriced' | 'onReached' | 'context'> {
  readonly system: readonly string[];
  readonly prompt: readonly UserPart[];
  /** If absent, the run is not stored. */
  readonly session?: TaskSession;
  /** Default: the run is not audited. */
  readonly audit?: Audit;
  readonly permission: Permission;
  /** The keyboard of the user who answers approval requests. It is closed when the run ends. */
  readonly keyboard?: Keyboard;
  /** True if a user can answer approval requests. Default: true with a keyboard. */
  readonly attended?: boolean;
  readonly recording?: Recording;
  readonly limits: Limits & { readonly turns: number };
  readonly pricing: Pricing;
  /** The answer to the open question about a limit of a resumed session: how much more it allows. */
  readonly more?: number;
  /**
   * Calls back when the user of a run in the background asks it to stop, and returns how to end this. Present: a signal leaves
   * the run as a crash would, because the machine may be shutting down.
   */
  readonly onStopRequest?: (stop: () => void) => () => void;
  /** The working directory of commands, for display. */
  readonly folder: string;
  readonly failure: Omit<FailureContext, 'verbose'>;
}

/** The outcome of a task. */
export interface TaskOutcome {
  readonly result: RunResult;
  readonly exitCode: number;
}

/** Performs a task: shows it, asks for approvals, handles Ctrl-C and prints the summary. */
export async function runTask(task: Task, io: Io): Promise<TaskOutcome> {
  let control: RecordingControl | undefined;
  const reading = task.context?.offload?.tool;
  const tools = reading === undefined ? task.tools : [...task.tools, reading];
  const output = createOutput(
    {
      ...task,
      tools,
      model: task.agent.model,
      ...(task.keyboard !== undefined && {
        approvals: {
          folder: task.folder,
          answer: (id, answer) => control?.decide(id, answer),
          allowAlways: (rule) => task.permission.allow(rule),
          offers: (call) => task.permission.offers(call),
          scope: ' in this run',
        },
      }),
    },
    io,
  );
  const { session, audit = noAudit } = task;
  watchRules(audit, task.permission);
  const store =
    session &&
    new BestEffortStore(session.store, ({ message }) => {
      output.terminal.lines([`cobbler: ${visible(message)} This run will continue without being saved.`]);
    });
  const executor = new Executor({
    agent: task.agent,
    system: task.system,
    limits: task.limits,
    // No other process continues such a run, so data that no second request reads is not cached.
    request: { cache: task.limits.turns > 1 && task.tools.length > 0 },
    ...defined({ allowUnpriced: task.allowUnpriced, onReached: task.onReached }),
    ...defined({ budget: task.budget, hooks: task.hooks, context: task.context }),
    store: audit.watch(
      store ?? memoryStore(),
      readsOnly(() => tools),
    ),
    ...recordedPorts(task),
  });
  const openApprovals = session?.resumes === true ? await readOpenApprovals(session, output) : [];
  const answers = answersOf(task.more, openApprovals);
  const run = start(executor, task, answers, (event) => {
    output.view.event(event);
    // Decisions are accepted after this event.
    if (event.type === 'resumed' && answers.length === 0)
      for (const request of openApprovals) output.view.event(request);
  });
  control = task.recording?.control(run) ?? run;
  const shared = session && sharedStore(session.store);
  // A recording contains every decision, and these come from outside.
  if (shared !== undefined && task.recording === undefined) receiveRequests(shared, run);
  const pipe = await waitForEnd(run, control, output, task, io);
  const result = await run.result;
  if (pipe.broken) return { result, exitCode: 0 };
  const kept = session && {
    session: {
      ...{ id: session.id, missing: store?.missing(session.id) ?? 0, name: ownName(io.env) },
      ...defined({ agent: session.agent }),
    },
  };
  const finished = { result, task, calls: output.calls, ...kept };
  const closing = closingLines(finished, output.style, output.screen.columns());
  output.terminal.lines(closing);
  return { result, exitCode: exitCodeOf(result, task.permission.undecided.length > 0) };
}

/** Shows waiting approvals of a session whose process ended during the question; no event asks for them again. */
async function readOpenApprovals(
  { id, store }: TaskSession,
  output: RunOutput,
): Promise<readonly ApprovalRequestEvent[]> {
  const ledger = new Ledger();
  for (const event of await store.read(id)) {
    ledger.handle(event);
    if (event.type === 'assistant') output.calls.addResponse(event);
  }
  return [...ledger.openApprovals.values()];
}

/** @throws UsageError if an amount is given and the session waits at no limit. */
function answersOf(
  more: number | undefined,
  open: readonly ApprovalRequestEvent[],
): readonly NamedDecision[] {
  if (more === undefined) return [];
  const { approvalId } = open.find(({ limit }) => limit !== undefined) ?? {};
  if (approvalId !== undefined) return [{ approvalId, decision: 'allow', more }];
  throw UsageError.withCode(
    'no_approval',
    'The session is not waiting for a decision about a limit, so --more has no effect.',
    'Continue it without --more.',
  );
}

function start(
  executor: Executor,
  { session, prompt }: Task,
  answers: readonly NamedDecision[],
  onEvent: (event: RunEvent) => void,
): Run {
  if (session === undefined) return executor.run(prompt, { onEvent });
  if (session.resumes) return executor.resume(session.id, { onEvent, answers });
  return executor.run(prompt, { onEvent, sessionId: session.id });
}

/** Passes all external input of the run through the recording, if there is one. */
function recordedPorts({
  recording,
  keyboard,
  attended = keyboard !== undefined,
  tools,
  pricing,
  permission,
}: Task) {
  const { gate } = permission;
  if (recording === undefined) return { attended, tools, pricing, gate };
  return {
    attended,
    tools: recording.tools(tools),
    pricing: recording.pricing(pricing),
    // Rules alone decide the same each time, and record the calls they could not ask about; a user's decisions are
    // recorded.
    gate: attended ? recording.gate(gate) : gate,
    runtime: recording.runtime,
  };
}

/** Waits for the run to end. Keys, signals and a closed pipe can end it sooner. */
async function waitForEnd(
  run: Run,
  control: RecordingControl,
  output: RunOutput,
  task: Task,
  io: Io,
): Promise<{ readonly broken: boolean }> {
  let interrupts = 0;
  let broken = false;
  const onInterrupt = () => {
    interrupts += 1;
    if (task.onStopRequest !== undefined) io.exit(exitCodes.cancelled);
    if (interrupts > 1) {
      output.terminal.close();
      task.keyboard?.close();
      io.exit(130);
    }
    output.view.stopping();
    control.cancel();
  };
  const forgetInterrupt = io.onInterrupt(onInterrupt);
  const forgetRequest = task.onStopRequest?.(() => control.cancel());
  const forgetPipe = io.onBrokenPipe(() => {
    broken = true;
    control.cancel();
  });
  task.keyboard?.listen((key) => (key.type === 'interrupt' ? onInterrupt() : output.view.key(key)));
  const result = await run.result;
  output.view.end(markOf(result.status));
  task.keyboard?.close();
  forgetInterrupt();
  forgetRequest?.();
  forgetPipe();
  return { broken };
}

const exitCodes = {
  complete: 0,
  failed: 1,
  usage: 2,
  limit: 3,
  denied: 5,
  timeout: 124,
  cancelled: 130,
} as const;

interface RunEnding {
  readonly status: RunStatus;
  readonly error?: { readonly kind: ErrorKind };
}

/** Returns the exit code of a run. `unasked`: a call was denied because no user could be asked. */
export function exitCodeOf(ending: RunEnding, hasUndecided: boolean): number {
  switch (ending.status) {
    case 'complete':
      return hasUndecided ? exitCodes.denied : exitCodes.complete;
    case 'waiting':
      return exitCodes.denied;
    case 'limit':
      return exitCodes.limit;
    case 'timeout':
      return exitCodes.timeout;
    case 'cancelled':
      return exitCodes.cancelled;
    case 'max_tokens':
    case 'refusal':
      return exitCodes.failed;
    case 'failed':
      return ending.error?.kind === 'invalid' || ending.error?.kind === 'auth'
        ? exitCodes.usage
        : exitCodes.failed;
  }
}

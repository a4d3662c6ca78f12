import type {
  Agent,
  ContextPolicy,
  ErrorKind,
  Limits,
  Pricing,
  Run,
  RunEvent,
  RunResult,
  RunStatus,
  SessionStore,
  Tool,
  UserPart,
} from '@cobbler/agent';
import { Executor } from '@cobbler/agent';
import type { Recording, RecordingControl } from '@cobbler/agent/cassette';
import { defined } from '@cobbler/agent/values';
import type { Permission } from '../config/permission.ts';
import type { OutputForm } from '../config/run-flags.ts';
import { ForgivingStore } from '../session/best-effort-store.ts';
import { visible } from '../terminal/escape.ts';
import type { Io, Keyboard } from '../terminal/io.ts';
import { ownName } from '../terminal/program-name.ts';
import { closingLines, markOf } from '../view/closing.ts';
import type { FailureContext } from '../view/failure.ts';
import type { AskedEvent } from '../view/ledger.ts';
import { Ledger } from '../view/ledger.ts';
import type { RunOutput } from './output.ts';
import { setStage } from './output.ts';

/** The session of a run and its store. */
export interface TaskSession {
  readonly id: string;
  readonly store: SessionStore;
  /** True to continue where the session stopped; false to send the prompt. */
  readonly resumes: boolean;
}

/** The complete settings of a run, shared by `run` and `demo`. */
export interface Task {
  readonly agent: Agent;
  readonly tools: readonly Tool[];
  readonly system: readonly string[];
  readonly prompt: readonly UserPart[];
  /** If absent, the run is not stored. */
  readonly session?: TaskSession;
  readonly permission: Permission;
  /** The keyboard of the user who answers approval requests. It is closed when the run ends. */
  readonly keyboard?: Keyboard;
  /** True if a user can answer approval requests. Default: true with a keyboard. */
  readonly attended?: boolean;
  /** Records or replays the run. */
  readonly tape?: Recording;
  readonly limits: Limits & { readonly turns: number };
  readonly pricing: Pricing;
  /** True to run with a cost limit although the price of the model is unknown. Default: false. */
  readonly allowUnpriced?: boolean;
  /** Compaction and offloading. Default: none. */
  readonly context?: ContextPolicy;
  readonly form: OutputForm;
  readonly verbose: boolean;
  /** The header of a run: model, directory, permissions. */
  readonly header: readonly string[];
  /** The working directory of commands, for display. */
  readonly folder: string;
  readonly failure: Omit<FailureContext, 'verbose'>;
}

/** The outcome of a task. */
export interface Performed {
  readonly result: RunResult;
  readonly exitCode: number;
}

/** Performs a task: shows it, asks for approvals, handles Ctrl-C and prints the summary. */
export async function performTask(task: Task, io: Io): Promise<Performed> {
  let control: RecordingControl | undefined;
  const reading = task.context?.offload?.tool;
  const stage = setStage(
    {
      ...task,
      tools: reading === undefined ? task.tools : [...task.tools, reading],
      model: task.agent.model,
      ...(task.keyboard !== undefined && {
        approvals: {
          folder: task.folder,
          answer: (id, answer) => control?.decide(id, answer),
          allowAlways: (rule) => task.permission.allow(rule),
        },
      }),
    },
    io,
  );
  const { session } = task;
  const store =
    session &&
    new ForgivingStore(session.store, ({ message }) => {
      stage.terminal.lines([`cobbler: ${visible(message)} This run continues without being saved.`]);
    });
  const executor = new Executor({
    agent: task.agent,
    system: task.system,
    limits: task.limits,
    // No other process continues such a run, so data that no second request reads is not cached.
    request: { cache: task.limits.turns > 1 && task.tools.length > 0 },
    ...defined({ allowUnpriced: task.allowUnpriced, context: task.context, store }),
    ...taped(task),
  });
  const asked = session?.resumes === true ? await askedBefore(session, stage) : [];
  const run = start(executor, task, (event) => {
    stage.view.event(event);
    // Decisions are accepted after this event.
    if (event.type === 'resumed') for (const request of asked) stage.view.event(request);
  });
  control = task.tape?.control(run) ?? run;
  const pipe = await watched(run, control, stage, task, io);
  const result = await run.result;
  if (pipe.broken) return { result, exitCode: 0 };
  const kept = session && {
    session: { id: session.id, missing: store?.missing(session.id) ?? 0, name: ownName(io.env) },
  };
  const finished = { result, task, calls: stage.calls, ...kept };
  const closing = closingLines(finished, stage.style, stage.screen.columns());
  stage.terminal.lines(closing);
  return { result, exitCode: exitCodeOf(result, task.permission.unasked.length > 0) };
}

/** Shows waiting approvals of a session whose process ended during the question; no event asks for them again. */
async function askedBefore({ id, store }: TaskSession, stage: RunOutput): Promise<readonly AskedEvent[]> {
  const ledger = new Ledger();
  for (const event of await store.read(id)) {
    ledger.hear(event);
    if (event.type === 'assistant') stage.calls.answered(event);
  }
  return [...ledger.asked.values()];
}

function start(executor: Executor, { session, prompt }: Task, onEvent: (event: RunEvent) => void): Run {
  if (session === undefined) return executor.run(prompt, { onEvent });
  if (session.resumes) return executor.resume(session.id, { onEvent });
  return executor.run(prompt, { onEvent, sessionId: session.id });
}

/** Passes all external input of the run through the recording, if there is one. */
function taped({ tape, keyboard, attended = keyboard !== undefined, tools, pricing, permission }: Task) {
  const { gate } = permission;
  if (tape === undefined) return { attended, tools, pricing, gate };
  return {
    attended,
    tools: tape.tools(tools),
    pricing: tape.pricing(pricing),
    // Rules alone decide the same each time, and record the calls they could not ask about; a user's decisions are
    // recorded.
    gate: attended ? tape.gate(gate) : gate,
    runtime: tape.runtime,
  };
}

/** Waits for the run to end. Keys, signals and a closed pipe can end it sooner. */
async function watched(
  run: Run,
  control: RecordingControl,
  stage: RunOutput,
  task: Task,
  io: Io,
): Promise<{ readonly broken: boolean }> {
  let interrupts = 0;
  let broken = false;
  const onInterrupt = () => {
    interrupts += 1;
    if (interrupts > 1) {
      stage.terminal.close();
      task.keyboard?.close();
      io.exit(130);
    }
    stage.view.stopping();
    control.cancel();
  };
  const forgetInterrupt = io.onInterrupt(onInterrupt);
  const forgetPipe = io.onBrokenPipe(() => {
    broken = true;
    control.cancel();
  });
  task.keyboard?.listen((key) => (key.type === 'interrupt' ? onInterrupt() : stage.view.key(key)));
  const result = await run.result;
  stage.view.end(markOf(result.status));
  task.keyboard?.close();
  forgetInterrupt();
  forgetPipe();
  return { broken };
}

/** The exit codes of the process. */
const exitCodes = {
  complete: 0,
  failed: 1,
  usage: 2,
  limit: 3,
  denied: 5,
  timeout: 124,
  cancelled: 130,
} as const;

/** The properties of a run that determine the exit code. */
interface RunEnding {
  readonly status: RunStatus;
  readonly error?: { readonly kind: ErrorKind };
}

/** Returns the exit code of a run. `unasked`: a call was denied because no user could be asked. */
export function exitCodeOf(ending: RunEnding, unasked: boolean): number {
  switch (ending.status) {
    case 'complete':
      return unasked ? exitCodes.denied : exitCodes.complete;
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

import type { CallPosition, ToolResultEvent } from '../events/event.ts';
import { Budget, readHoldRequest } from '../interfaces/budget.ts';
import type { HoldListener, HoldRequest, PendingHold } from '../interfaces/reservation.ts';
import type {
  PlannedChange,
  Tool,
  ToolAnswer,
  ToolContext,
  ToolQuestion,
  ToolWait,
} from '../interfaces/tool.ts';
import type { ToolOutput } from '../interfaces/tool-output.ts';
import { isToolOutput, readOutput } from '../interfaces/tool-output.ts';
import { defined } from '../values/defined.ts';
import { AgentError, summarize } from '../values/errors.ts';
import { currentPart, isBase64 } from '../values/file-part.ts';
import { listOf, read, when } from '../values/input.ts';
import { asText } from '../values/invalid-value.ts';
import { isEndless, isObject } from '../values/json.ts';
import type { ToolCallPart, ToolResultPart } from '../values/message.ts';
import { maxNoteBytes, maxProgressBytes, maxSteps, sizeOf } from '../values/sizes.ts';
import { isThenable } from '../values/thenable.ts';
import { cap } from '../values/truncate.ts';
import { wellFormedText } from '../values/unicode.ts';
import type { RunContext } from './run-context.ts';

/** Default time limit of a tool, in milliseconds. */
export const defaultTimeoutMs = 120_000;

/** Time in milliseconds in which a tool that was asked to stop can still return a result. */
const graceMs = 100;

/** Number of bytes below which texts are joined instead of truncated one by one. */
const minShare = 1024;

/** Maximum number of bytes of the files in one result, in base64. */
export const maxFileBytes = 33_554_432;

/** The outcome of a tool, in a form that is safe to store and send. */
export type ToolOutcome = Pick<ToolResultEvent, 'content' | 'isError' | 'summary' | 'diff' | 'untrusted'>;

/** A tool call that is about to run. */
export interface ToolJob {
  readonly call: CallPosition & { readonly part: ToolCallPart };
  readonly tool: Tool;
  /** The arguments that are passed to the tool. */
  readonly valid: Record<string, unknown>;
  /** The changes that a user allowed; undefined if there was no approval, or if the tool does not know its changes. */
  readonly approved: readonly PlannedChange[] | undefined;
}

/** The answer to a question that can no longer be put to a user. */
export const unasked: ToolAnswer = { decision: 'deny', message: 'No user could be asked.' };

/** The end of a tool: its context and the wait for it share it. */
interface ToolStop {
  /** True if the run no longer waits for the tool; its progress is then dropped. */
  isOver: boolean;
  /** The reason for stopping the tool, once it is asked to stop. */
  reason: AgentError | undefined;
  /** Created when the tool reads its signal, because most never do. */
  controller: AbortController | undefined;
  /** Created when the tool reads its budget. */
  budget: Budget | undefined;
  readonly newBudget: () => Budget;
}

/**
 * Runs a tool within its time limit. Never throws or rejects: whatever the tool does becomes a result, at once unless the
 * tool returns a promise. The result is undefined if the run stopped and the tool did not return in time.
 * @param maxBytes the maximum number of bytes kept of its text output.
 * @param ask asks a user about a step of the call.
 */
export function runTool(
  run: RunContext,
  job: ToolJob,
  maxBytes: number,
  ask: (question: ToolQuestion) => Promise<ToolAnswer>,
  wait?: ToolWait,
): ToolOutcome | undefined | Promise<ToolOutcome | undefined> {
  if (run.isStopping) return undefined;
  const stop: ToolStop = {
    isOver: false,
    reason: undefined,
    controller: undefined,
    budget: undefined,
    newBudget: () => new CallBudget(run, job),
  };
  let returned: unknown;
  try {
    // Starts immediately, because a parallel tool may stop the run a moment later.
    returned = job.tool.execute(job.valid, contextOf(run, job, stop, { ask, wait }));
    if (typeof returned !== 'string' && isThenable(returned))
      return inTime(run, job.tool, maxBytes, { stop, pending: returned });
  } catch (thrown) {
    stop.isOver = true;
    return failure(summarize(thrown).message, maxBytes);
  }
  stop.isOver = true;
  return outcomeOf(returned, maxBytes);
}

function inTime(
  run: RunContext,
  tool: Tool,
  limit: number,
  { stop, pending }: { readonly stop: ToolStop; readonly pending: PromiseLike<unknown> },
): Promise<ToolOutcome | undefined> {
  const timeoutMs = tool.timeoutMs ?? defaultTimeoutMs;
  return new Promise((resolve) => {
    let lateMessage: string | undefined;
    let cancelGrace = () => {};
    const finish = (outcome: ToolOutcome | undefined) => {
      stop.isOver = true;
      cancelTimeout();
      cancelGrace();
      stopWatching();
      resolve(outcome);
    };
    const end = (reason: AgentError, outcome: ToolOutcome | undefined) => {
      cancelTimeout();
      cancelGrace();
      cancelGrace = run.config.runtime.timer(graceMs, () => finish(outcome));
      stop.reason ??= reason;
      stop.controller?.abort(stop.reason);
    };
    const onAbort = () =>
      end(
        new AgentError({ kind: 'aborted', code: 'run_stopped', message: 'The run was stopped.' }),
        undefined,
      );
    const cancelTimeout = run.config.runtime.timer(timeoutMs, () => {
      lateMessage = `${tool.name} did not finish within ${timeoutMs / 1000} s and was stopped.`;
      end(
        new AgentError({ kind: 'timeout', code: 'tool_timeout', message: lateMessage }),
        failure(lateMessage, limit),
      );
    });
    const stopWatching = run.onStop(onAbort);
    if (run.isStopping) onAbort();
    new Promise((settle) => settle(pending)).then(
      (value) => finish(outcomeOf(value, limit)),
      // The error that a tool throws after it was stopped says less than the reason for stopping it.
      (thrown) => finish(failure(lateMessage ?? summarize(thrown).message, limit)),
    );
  });
}

/** The key under which a context, and every copy of it, holds the end of its tool. */
const stopKey = Symbol('stop');

/** The same properties for all contexts: with accessors of its own, each would have a hidden class of its own. */
const lazyProperties: PropertyDescriptorMap & ThisType<{ readonly [stopKey]: ToolStop }> = {
  signal: {
    get() {
      const stop = this[stopKey];
      stop.controller ??= new AbortController();
      if (stop.reason !== undefined) stop.controller.abort(stop.reason);
      return stop.controller.signal;
    },
    enumerable: true,
  },
  budget: {
    get() {
      const stop = this[stopKey];
      stop.budget ??= stop.newBudget();
      return stop.budget;
    },
    enumerable: true,
  },
};

/** The budget of a call. What is charged to it is recorded, and so is what the runs that it starts charge. */
class CallBudget extends Budget {
  readonly #run: RunContext;

  constructor(run: RunContext, { call, tool }: ToolJob) {
    const { store, budget } = run.config;
    super({}, budget, ({ log, ...spending }) => {
      const event = { type: 'spent', ...spending, callId: call.part.id, toolName: tool.name } as const;
      void run.log.record([log?.store === store ? { ...event, session: log.sessionId } : event]);
      return false;
    });
    this.#run = run;
  }

  /**
   * Reserves for this run: a budget per run includes what its calls spend, its session is the one that is resumed after a
   * crash, and its log shows what the request used.
   */
  override hold(request: HoldRequest, listener: HoldListener, below?: readonly Budget[]): PendingHold {
    const { config, state } = this.#run;
    const own = { sessionId: config.sessionId, runId: config.runId, seq: state.seq, isOfCall: true };
    return super.hold({ ...read(request, readHoldRequest, 'request'), ...own }, listener, below);
  }
}

function contextOf(
  run: RunContext,
  { call, tool, approved }: ToolJob,
  stop: ToolStop,
  { ask, wait }: { ask: (question: ToolQuestion) => Promise<ToolAnswer>; wait: ToolWait | undefined },
): ToolContext {
  const { sessionId } = run.config;
  const callId = call.part.id;
  let asked: Promise<unknown> | undefined;
  let steps = 0;
  const context: Omit<ToolContext, 'signal' | 'budget'> & { [stopKey]?: ToolStop } = {
    wait,
    approved,
    callId,
    sessionId,
    user: run.state.user,
    idempotencyKey: `${sessionId}:${call.turn}.${call.index}`,
    progress(text) {
      if (stop.isOver || stop.reason !== undefined) return;
      run.emit({ type: 'progress', callId, toolName: tool.name, text: cap(asText(text), maxProgressBytes) });
    },
    step({ text: words, called, isError }) {
      if (stop.isOver || stop.reason !== undefined || steps >= maxSteps) return;
      steps += 1;
      const { turn, index } = call;
      const step = { type: 'step', turn, index, callId, toolName: tool.name } as const;
      const about = called === undefined ? {} : { called: short(called) };
      void run.log.record([{ ...step, text: short(words), ...about, ...(isError === true && { isError }) }]);
    },
    ask(question) {
      const answer = (asked ?? Promise.resolve()).then(() => (stop.isOver ? unasked : ask(question)));
      asked = answer.catch(() => undefined);
      return answer;
    },
  };
  context[stopKey] = stop;
  return Object.defineProperties(context, lazyProperties) as ToolContext;
}

function short(value: unknown): string {
  return cap(wellFormedText(asText(value)), maxNoteBytes);
}

/** Returns whatever a tool returned in a form that is safe to store and send. Never throws. */
export function outcomeOf(value: unknown, limit: number): ToolOutcome {
  try {
    if (typeof value === 'string') return { content: text(value, limit), isError: false };
    // JSON would drop the message of an error.
    if (value instanceof Error) return failure(summarize(value).message, limit);
    return isToolOutput(value)
      ? fromOutput(value, limit)
      : { content: text(plainText(value), limit), isError: false };
  } catch (thrown) {
    return failure(
      `The tool returned a value that cannot be written as JSON: ${summarize(thrown).message}`,
      limit,
    );
  }
}

function fromOutput(output: ToolOutput, limit: number): ToolOutcome {
  const { content, isError, summary, diff, untrusted } = output;
  const kept =
    typeof content === 'string' ? text(content, limit) : parts(read(content, partList, 'content'), limit);
  return {
    content: kept.length === 0 ? text('', limit) : kept,
    isError: isError === true,
    ...(typeof summary === 'string' && { summary: cap(summary.toWellFormed(), maxNoteBytes) }),
    ...(typeof diff === 'string' && { diff: cap(diff.toWellFormed(), limit) }),
    ...(untrusted === true && { untrusted }),
  };
}

/**
 * Reads an output that replaces another: fields to change. What users would see is removed unless it is one of them.
 * @throws AgentError if a field cannot be stored.
 */
export function replacement(value: unknown, limit: number): Partial<ToolOutcome> {
  const given: Partial<ToolOutput> = typeof value === 'string' ? { content: value } : readOutput(value);
  const { content = '' } = given;
  const changes = Object.entries(fromOutput({ ...given, content }, limit)).filter(([name]) => name in given);
  return { ...noDetails, ...Object.fromEntries(changes) };
}

const noDetails: object = { summary: undefined, diff: undefined };

const partList = listOf<ToolResultPart>(when(isObject, 'a part such as { type: "text", text }'));

/** Returns the parts that are not empty; their texts share the limit. */
function parts(given: readonly ToolResultPart[], limit: number): readonly ToolResultPart[] {
  const nonEmpty = given.filter((part) => part.type !== 'text' || part.text.trim() !== '');
  const texts = nonEmpty.filter((part) => part.type === 'text');
  const fileBytes = sizeOf(nonEmpty.filter((part) => part.type !== 'text'));
  if (fileBytes > maxFileBytes)
    throw new TypeError(`it contains files totaling ${fileBytes} bytes, but the maximum is ${maxFileBytes}`);
  const share = Math.floor(limit / texts.length);
  // This many truncation marks would take more space than the texts.
  if (texts.length > 1 && share < minShare) {
    const files = nonEmpty.filter((part) => part.type !== 'text').map(filePart);
    return [...text(texts.map((part) => part.text).join('\n'), limit), ...files];
  }
  return nonEmpty.flatMap((part) => (part.type === 'text' ? text(part.text, share) : [filePart(part)]));
}

/** Returns only the known fields of a file; the others can contain anything. */
function filePart(given: ToolResultPart): ToolResultPart {
  const part = currentPart(given);
  if (part.type !== 'file') throw new TypeError('it contains a part that is neither text nor a file');
  const { type, mediaType, data } = part;
  if (typeof mediaType !== 'string' || !/^[\w.+-]+\/[\w.+-]+$/.test(mediaType))
    throw new TypeError('it contains a file that has no media type (for example, image/png)');
  if (typeof data !== 'string' || !isBase64(data))
    throw new TypeError('it contains a file whose data is not base64');
  const name = typeof part.name === 'string' ? wellFormedText(part.name) : undefined;
  return { type, mediaType, data, ...defined({ name }) };
}

function plainText(value: unknown): string {
  if (typeof value === 'function' || typeof value === 'symbol')
    throw new TypeError(`it is a ${typeof value}`);
  if (isEndless(value)) throw new TypeError('it is too long');
  return value === undefined ? '' : (JSON.stringify(value) ?? '');
}

function failure(message: string, limit: number): ToolOutcome {
  return { content: text(withoutStack(message), limit), isError: true };
}

/** Removes stack traces: error texts go to the model, which needs to know its mistake, not the files of the program. */
function withoutStack(message: string): string {
  const lines = message
    .split('\n')
    .filter((line) => !/^\s+at .*(:\d+:\d+|<anonymous>|native)\)?$/.test(line));
  return lines.join('\n');
}

function text(value: string, limit: number): readonly ToolResultPart[] {
  const whole = value.trim() === '' ? '(no output)' : value.toWellFormed();
  return [{ type: 'text', text: cap(whole, limit) }];
}

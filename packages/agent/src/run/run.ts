import type { ApprovalRequestedEvent, LiveEvent, RunEvent, RunStatus } from '../events/event.ts';
import type { ToolRunEvent } from '../events/tool-event.ts';
import type { ModelResponse } from '../interfaces/agent.ts';
import type { LimitName } from '../interfaces/limits.ts';
import type { ExecutionMetrics } from '../interfaces/metrics.ts';
import type { Tool } from '../interfaces/tool.ts';
import { defined } from '../values/defined.ts';
import type { ErrorData } from '../values/errors.ts';
import { AgentError } from '../values/errors.ts';
import { callable, read } from '../values/input.ts';
import type { Message, UserPart } from '../values/message.ts';
import type { ApprovalDecision } from './approvals.ts';
import { readDecision } from './approvals.ts';
import type { Feed } from './feed.ts';
import { readUserContent } from './prompt.ts';
import { textChunks, wholeText } from './run-text.ts';

interface ResultFields {
  readonly sessionId: string;
  readonly runId: string;
  /** The text of the last complete response; empty if there is none. */
  readonly text: string;
  /** The last response, if this process received it. */
  readonly response?: ModelResponse;
  /** The conversation, closed and valid: pass it to the next run unchanged. */
  readonly messages: readonly Message[];
  readonly metrics: ExecutionMetrics;
}

/** The fields that only some results have. They can be read from every result; in the others they are undefined. */
interface NoDetails {
  readonly output?: never;
  readonly error?: never;
  readonly limit?: never;
  readonly approvals?: never;
}

/** The result of a run that completed. */
export interface CompleteResult<Output = unknown> extends ResultFields, Omit<NoDetails, 'output'> {
  readonly status: 'complete';
  /** The output in the requested shape, validated. Undefined if the run has no `output` option. */
  readonly output: Output;
  /** Returns this result. */
  unwrap(): CompleteResult<Output>;
}

interface Unfinished extends ResultFields {
  /** Throws the {@link AgentError} that ended the run. */
  unwrap(): never;
}

/** The result of a run that failed, was cancelled or reached its time limit. */
interface FailedResult extends Unfinished, Omit<NoDetails, 'error'> {
  readonly status: 'failed' | 'cancelled' | 'timeout';
  readonly error: AgentError;
}

interface LimitResult extends Unfinished, Omit<NoDetails, 'error' | 'limit'> {
  readonly status: 'limit';
  readonly error: AgentError;
  /** The limit that was reached. Absent if a response was too large, which no option limits. */
  readonly limit?: LimitName;
}

/** The result of a run that waits for a user's decision: pass it to `Executor.resume`. */
interface WaitingResult extends Unfinished, Omit<NoDetails, 'approvals'> {
  readonly status: 'waiting';
  /** The calls that need a decision. */
  readonly approvals: readonly ApprovalRequestedEvent[];
}

/** The result of a run whose model declined or reached the maximum length of a response. */
interface CutResult extends Unfinished, NoDetails {
  readonly status: 'max_tokens' | 'refusal';
}

/**
 * The outcome of a run. Every run ends with one and never throws. The status determines which fields it has: `complete`
 * has `output`, `waiting` has `approvals`, `limit` has `limit`, and `failed`, `cancelled`, `timeout` and `limit` have
 * `error`.
 */
export type RunResult<Output = unknown> =
  | CompleteResult<Output>
  | FailedResult
  | LimitResult
  | WaitingResult
  | CutResult;

/**
 * The result of one action of a run: the end of the run, or the position in its session from which it continues. With `waitUntil`, the next action must not be performed before this time, in milliseconds since 1970.
 */
export type Advance<Output = unknown> =
  | { readonly over: true; readonly result: RunResult<Output> }
  | { readonly over: false; readonly seq: number; readonly waitUntil?: number };

/** The ways to control a run. Each returns false if it came too late and had no effect. */
export interface RunControl {
  cancel(): boolean;
  steer(content: readonly UserPart[]): boolean;
  decide(approvalId: string, answer: ApprovalDecision): boolean;
}

/**
 * An active run. It starts when it is created and continues without readers: leaving a `for await` early has no
 * effect. `await run` returns its result. A function that returns a Run should not be async, because awaiting unwraps
 * it.
 */
export class Run<Output = unknown, Tools extends Tool = Tool>
  implements PromiseLike<RunResult<Output>>, AsyncIterable<ToolRunEvent<Tools>>
{
  readonly id: string;
  readonly sessionId: string;
  /** The result. Never rejects. */
  readonly result: Promise<RunResult<Output>>;
  readonly #feed: Feed;
  readonly #control: RunControl;

  constructor(
    ids: { id: string; sessionId: string },
    result: Promise<RunResult<Output>>,
    feed: Feed,
    control: RunControl,
  ) {
    this.id = ids.id;
    this.sessionId = ids.sessionId;
    this.result = result;
    this.#feed = feed;
    this.#control = control;
  }

  /** Stops the run. It ends within 250 ms, whatever it is doing. */
  cancel(): boolean {
    return this.#control.cancel();
  }

  /**
   * Sends a message to the model during the run; it becomes part of the next turn.
   * @throws AgentError `invalid`, code `bad_prompt`, if the content is neither a string nor an array of parts;
   * `prompt_too_large`; `too_many_waiting` if 1,000 messages or 64 MiB of them already wait for the next turn.
   */
  steer(content: string | readonly UserPart[]): boolean {
    return this.#control.steer(readUserContent(content));
  }

  /**
   * Decides an approval that this run has requested. Only the first decision counts.
   * @throws AgentError `invalid`, code `bad_decision`, for anything but `allow` and `deny`.
   */
  decide(approvalId: string, answer: ApprovalDecision): boolean {
    return this.#control.decide(approvalId, readDecision(answer));
  }

  /**
   * The text of all responses of the run, separated by empty lines. Read it in chunks as it arrives
   * (`for await`), or await all of it. Both throw the error of a run that does not complete, as `unwrap` does.
   *
   * Chunks never repeat: if a response is cut off and requested again, the part of the new attempt that was already
   * read is skipped. If the new attempt starts differently, or more than 64 MiB wait to be read, reading throws kind `agent`, code `text_discarded`;
   * awaiting the text does not.
   */
  text(): AsyncIterable<string> & PromiseLike<string> {
    return {
      [Symbol.asyncIterator]: () => textChunks(this.#feed, this.result),
      // biome-ignore lint/suspicious/noThenProperty: the text is awaited like a promise, by design.
      then: (onFulfilled, onRejected) => wholeText(this.#feed, this.result).then(onFulfilled, onRejected),
    };
  }

  /**
   * The response that is being received, as live events: a reader that joins in the middle of it needs them before
   * all later events. Empty if no response is being received, or if it is too long.
   */
  get soFar(): readonly LiveEvent[] {
    return this.#feed.soFar.events;
  }

  /** Calls the listener for every later event, synchronously. Returns a function that removes it. */
  subscribe(listener: (event: ToolRunEvent<Tools>) => void): () => void {
    read(listener, callable, 'listener');
    return this.#feed.listen(listener as (event: RunEvent) => void);
  }

  /** Reads the events: the stored ones since the start of the run, the response so far, then all events as they happen. */
  [Symbol.asyncIterator](): AsyncIterableIterator<ToolRunEvent<Tools>> {
    return this.#feed.read() as AsyncIterableIterator<ToolRunEvent<Tools>>;
  }

  // biome-ignore lint/suspicious/noThenProperty: a run is awaited like a promise, by design.
  then<Fulfilled = RunResult<Output>, Rejected = never>(
    onFulfilled?: ((result: RunResult<Output>) => Fulfilled | PromiseLike<Fulfilled>) | null,
    onRejected?: ((reason: unknown) => Rejected | PromiseLike<Rejected>) | null,
  ): Promise<Fulfilled | Rejected> {
    return this.result.then(onFulfilled, onRejected);
  }
}

/** Creates the error of a cancelled run. */
export function cancelled(): AgentError {
  return new AgentError({ kind: 'aborted', code: 'cancelled', message: 'The run was cancelled.' });
}

/** Returns the error for a status, from event data alone, so that a stored run has the same error. */
export function errorOf(status: RunStatus, error: ErrorData | undefined): AgentError | undefined {
  if (error !== undefined) return new AgentError(error);
  if (status === 'cancelled') return cancelled();
  if (status === 'timeout')
    return new AgentError({
      kind: 'timeout',
      code: 'run_timeout',
      message: 'The run reached its time limit.',
    });
  return undefined;
}

/** The facts about the end of a run, from which its result is made. */
export interface Outcome<Output> extends ResultFields {
  readonly status: RunStatus;
  readonly limit?: LimitName;
  /** Used only if the run is complete. */
  readonly output?: Output;
  /** Absent: the error follows from the status. */
  readonly error?: AgentError;
  readonly approvals?: readonly ApprovalRequestedEvent[];
}

/** Returns the result of a run: the fields that belong to its status, and `unwrap`. */
export function runResult<Output>(outcome: Outcome<Output>): RunResult<Output> {
  const { status, limit, output, error: given, approvals = [], ...fields } = outcome;
  if (status === 'complete') {
    const unwrap = () => result;
    // Without the option `output` a run has none, and its type promises nothing.
    const result = { ...fields, status, ...defined({ output }), unwrap } as CompleteResult<Output>;
    return result;
  }
  const error = given ?? errorOf(status, undefined) ?? incomplete(status);
  const unwrap = (): never => {
    throw error;
  };
  switch (status) {
    case 'limit':
      return { ...fields, status, ...defined({ limit }), error, unwrap };
    case 'waiting':
      return { ...fields, status, approvals, unwrap };
    case 'max_tokens':
    case 'refusal':
      return { ...fields, status, unwrap };
    default:
      return { ...fields, status, error, unwrap };
  }
}

function incomplete(status: RunStatus): AgentError {
  const message = `The run did not complete: its status is ${status}.`;
  return new AgentError({ kind: 'agent', code: status, message });
}

import type { LiveEvent, RunEvent, RunStatus } from '../events/event.ts';
import type { ModelResponse } from '../interfaces/agent.ts';
import type { LimitName } from '../interfaces/limits.ts';
import type { ExecutionMetrics } from '../interfaces/metrics.ts';
import type { ErrorData } from '../values/errors.ts';
import { AgentError } from '../values/errors.ts';
import type { Message, UserPart } from '../values/message.ts';
import type { ApprovalDecision } from './approvals.ts';
import { readDecision } from './approvals.ts';
import type { Feed } from './feed.ts';
import { readUserContent } from './prompt.ts';

/** The outcome of a run. Every run ends with one; it never throws. */
export interface RunResult<Output = unknown> {
  readonly sessionId: string;
  readonly runId: string;
  readonly status: RunStatus;
  /** The limit that was reached, if the status is `limit`. */
  readonly limit?: LimitName;
  /** The text of the last complete response; empty if there is none. */
  readonly text: string;
  /** The last response, if this process received it. */
  readonly response?: ModelResponse;
  /** The output in the requested shape, validated. */
  readonly output?: Output;
  /** The reason why the run did not complete: present for limit, timeout, cancelled and failed. */
  readonly error?: AgentError;
  /** The conversation, closed and valid: pass it to the next run unchanged. */
  readonly messages: readonly Message[];
  readonly metrics: ExecutionMetrics;
  /** Returns this result if the run completed; otherwise throws its {@link AgentError}. */
  unwrap(): RunResult<Output>;
}

/** The result of one action of a run: the end of the run, or the position in its session from which it continues. */
export type Advance<Output = unknown> =
  | { readonly over: true; readonly result: RunResult<Output> }
  | { readonly over: false; readonly seq: number };

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
export class Run<Output = unknown> implements PromiseLike<RunResult<Output>>, AsyncIterable<RunEvent> {
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
   * @throws AgentError `invalid`, code `bad_prompt`, if the content is neither a string nor an array of parts.
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
   * The response that is being received, as live events: a reader that joins in the middle of it needs them before
   * all later events. Empty if no response is being received, or if it is too long.
   */
  get soFar(): readonly LiveEvent[] {
    return this.#feed.soFar.events;
  }

  /** Calls the listener for every later event, synchronously. Returns a function that removes it. */
  subscribe(listener: (event: RunEvent) => void): () => void {
    return this.#feed.listen(listener);
  }

  /**
   * Reads the events: the stored ones since the start of the run, the response so far, then all events as they
   * happen.
   */
  [Symbol.asyncIterator](): AsyncIterableIterator<RunEvent> {
    return this.#feed.read();
  }

  // biome-ignore lint/suspicious/noThenProperty: a run is awaited like a promise, by design.
  then<Fulfilled = RunResult<Output>, Rejected = never>(
    onFulfilled?: ((result: RunResult<Output>) => Fulfilled | PromiseLike<Fulfilled>) | null,
    onRejected?: ((reason: unknown) => Rejected | PromiseLike<Rejected>) | null,
  ): Promise<Fulfilled | Rejected> {
    return this.result.then(onFulfilled, onRejected);
  }
}

/** Returns the error for a status, from event data alone, so that a stored run has the same error. */
export function errorOf(status: RunStatus, error: ErrorData | undefined): AgentError | undefined {
  if (error !== undefined) return new AgentError(error);
  if (status === 'cancelled')
    return new AgentError({ kind: 'aborted', code: 'cancelled', message: 'The run was cancelled.' });
  if (status === 'timeout')
    return new AgentError({
      kind: 'timeout',
      code: 'run_timeout',
      message: 'The time limit of the run was reached.',
    });
  return undefined;
}

/** Adds `unwrap` to a result. */
export function runResult<Output>(fields: Omit<RunResult<Output>, 'unwrap'>): RunResult<Output> {
  const result: RunResult<Output> = {
    ...fields,
    unwrap() {
      if (fields.status === 'complete') return result;
      throw (
        fields.error ??
        new AgentError({
          kind: 'agent',
          code: fields.status,
          message: `The run did not complete: its status is ${fields.status}.`,
        })
      );
    },
  };
  return result;
}

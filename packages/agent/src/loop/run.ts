import type { LiveEvent, RunEvent, RunStatus } from '../events/event.ts';
import type { ModelResponse } from '../interfaces/agent.ts';
import type { LimitName } from '../interfaces/limits.ts';
import type { ExecutionMetrics } from '../interfaces/metrics.ts';
import type { ErrorData } from '../values/errors.ts';
import { AgentError } from '../values/errors.ts';
import type { Message, UserPart } from '../values/message.ts';
import type { ApprovalDecision } from './approval-decision.ts';
import { readDecision } from './approval-decision.ts';
import type { Feed } from './feed.ts';
import { readUserContent } from './prompt.ts';

/** How a run ended and what came of it. Every outcome is one of these; a run never throws. */
export interface RunResult<Output = unknown> {
  readonly sessionId: string;
  readonly runId: string;
  readonly status: RunStatus;
  /** With status `limit`: which one. */
  readonly limit?: LimitName;
  /** The text of the last complete answer; empty when there is none. */
  readonly text: string;
  /** The last answer, when this process received one. */
  readonly response?: ModelResponse;
  /** The answer in the shape that was asked for, checked. */
  readonly output?: Output;
  /** Why the run did not complete: present for limit, timeout, cancelled and failed. */
  readonly error?: AgentError;
  /** The conversation, closed and valid: give it to the next run as it is. */
  readonly messages: readonly Message[];
  readonly metrics: ExecutionMetrics;
  /** This result, for a complete run. Throws the {@link AgentError} for all others. */
  unwrap(): RunResult<Output>;
}

/** How far one action has brought a run: to its end, or to a place in its session from which it goes on. */
export type Advance<Output = unknown> =
  | { readonly over: true; readonly result: RunResult<Output> }
  | { readonly over: false; readonly seq: number };

/** What flows back from those who watch a run. Each returns false when it came too late and changed nothing. */
export interface RunControl {
  cancel(): boolean;
  steer(content: readonly UserPart[]): boolean;
  decide(approvalId: string, answer: ApprovalDecision): boolean;
}

/**
 * A run under way. It was started when it was made and continues without readers: leaving a
 * `for await` early changes nothing. `await run` gives its result; a function that returns a Run should
 * not be async, because awaiting unwraps it.
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
   * Says something to the model while it works; it is part of the next turn.
   * @throws AgentError `invalid`, code `bad_prompt`, for what is no text and no array of parts.
   */
  steer(content: string | readonly UserPart[]): boolean {
    return this.#control.steer(readUserContent(content));
  }

  /**
   * Answers an approval that this run has asked for. An answer counts once.
   * @throws AgentError `invalid`, code `bad_decision`, for anything but `allow` and `deny`.
   */
  decide(approvalId: string, answer: ApprovalDecision): boolean {
    return this.#control.decide(approvalId, readDecision(answer));
  }

  /**
   * What has come of the answer that the model is giving, as live events: what a reader that comes in the middle of it
   * has to get before all that follows. Empty when no answer is being given, or when it is too long to be kept.
   */
  get soFar(): readonly LiveEvent[] {
    return this.#feed.soFar.events;
  }

  /** Calls the listener for every event from now on, synchronously. Returns a function that stops it. */
  subscribe(listener: (event: RunEvent) => void): () => void {
    return this.#feed.listen(listener);
  }

  /** Reads the events: stored ones from the run's beginning, the answer so far, then all as they come. */
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

/** The error that goes with a status, from event data alone, so that a stored run gives the same one. */
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

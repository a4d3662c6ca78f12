import { backoff } from '../values/backoff.ts';
import { defined } from '../values/defined.ts';
import { AgentError } from '../values/errors.ts';
import { any, callable, flag, read, record, signal, text, withMethods } from '../values/input.ts';
import { shown } from '../values/invalid-value.ts';
import type { Json } from '../values/json.ts';
import { plainJson } from '../values/json-text.ts';
import type { Runtime } from '../values/runtime.ts';
import type { StepWork } from './attempts.ts';
import { attemptStep, ignoreRejection, pause, runEnded, toSerializableError } from './attempts.ts';
import type { RunEndState } from './inbox.ts';
import type { StepCall, StepSettings, Steps, Workflow } from './runner.ts';

/** A signal that a workflow waits for. */
export interface WorkflowWait {
  readonly name: string;
  /** Time at which the wait ends without the signal, in milliseconds since 1970. */
  readonly until?: number;
}

/**
 * The end of a call of a workflow: the end of the run, or waits. The next call starts as soon as one wait is over;
 * immediately if there is none.
 */
export type CallEnd = RunEndState | { readonly state: 'waiting'; readonly waits: readonly WorkflowWait[] };

/** A workflow, and the run that it is called for. */
export interface WorkflowCallOptions {
  readonly workflow: Workflow;
  readonly runId: string;
  /** The input as JSON. */
  readonly input: string;
  readonly runtime: Runtime;
  /** Stops all steps; its reason is thrown in the workflow. */
  readonly signal: AbortSignal;
  /** Returns a signal as JSON, null if waiting for it has timed out, or undefined if it can still arrive. */
  readonly signalled: (name: string) => string | null | undefined | Promise<string | null | undefined>;
  /** Called before each step; throws if another process has the run. Default: nothing is checked. */
  readonly mayStart?: () => Promise<void>;
  /** True if the call ends at each checkpoint. Default false. */
  readonly endsAtCheckpoint?: boolean;
}

/**
 * Calls a workflow once. Every runner uses it, so that all of them treat retries, waits, outputs and errors alike.
 * Never rejects. If the signal aborts, the end means nothing: another call, here or elsewhere, continues the run.
 */
export async function callWorkflow(options: WorkflowCallOptions): Promise<CallEnd> {
  const own = read(options, callOptions);
  const { runtime, signal } = own;
  for (let attempt = 1; ; attempt += 1) {
    const { end, code } = await callOnce(own);
    if (code !== 'fenced' || signal.aborted || attempt >= fencedTries) return end;
    // A process that has lost the run claimed its session after this one did. It cannot do so again.
    await pause(runtime, backoff({ baseMs: fencedMs }, attempt - 1), signal).catch(() => {});
  }
}

/** Number of calls of a workflow whose session another process claims, and the delay before the second one. */
const fencedTries = 5;
const fencedMs = 200;

async function callOnce(options: WorkflowCallOptions): Promise<{ end: CallEnd; code?: string | undefined }> {
  const { workflow, runId, input } = options;
  const call = new WorkflowCall(options);
  try {
    const output = await workflow(JSON.parse(input), call);
    return { end: { state: 'done', text: plainJson(output, `The output of run ${runId}`) } };
  } catch (thrown) {
    if (isWaiting(thrown)) return { end: { state: 'waiting', waits: call.waits } };
    const error = toSerializableError(thrown);
    return { end: { state: 'failed', text: JSON.stringify(error) }, code: error.code };
  } finally {
    call.end();
  }
}

/** Returns whether an error ends a call of a workflow with a wait. */
export function isWaiting(thrown: unknown): boolean {
  return AgentError.is(thrown) && thrown.kind === 'aborted' && thrown.code === 'run_waiting';
}

/** The steps of one call. Invariant: no step starts after the call has ended or the run was stopped. */
const callOptions = record<WorkflowCallOptions>(
  {
    workflow: callable,
    runId: text,
    input: text,
    runtime: withMethods('timer', 'digest'),
    signal,
    signalled: callable,
    mayStart: callable,
    endsAtCheckpoint: flag,
  },
  ['workflow', 'runId', 'input', 'runtime', 'signal', 'signalled'],
);

/** The end is checked where it is used, with an error of its own. */
const waitOptions = record<{ readonly until?: number }>({ until: any });

class WorkflowCall implements Steps {
  readonly signal: AbortSignal;
  /** The waits of this call that are not over. */
  readonly waits: WorkflowWait[] = [];
  readonly #options: WorkflowCallOptions;
  readonly #ended = new AbortController();

  constructor(options: WorkflowCallOptions) {
    this.#options = options;
    this.signal = AbortSignal.any([this.#ended.signal, options.signal]);
  }

  get runId(): string {
    return this.#options.runId;
  }

  run<Value>(
    name: string,
    perform: (call: StepCall) => Value | Promise<Value>,
    settings: StepSettings = {},
  ): Promise<Value> {
    const { runtime, runId } = this.#options;
    const work = { runtime, runId, name, perform, settings, signal: this.signal };
    return ignoreRejection(this.#attempt(work));
  }

  waitFor(name: string, options: { readonly until?: number } = {}): Promise<Json | undefined> {
    return ignoreRejection(this.#waitFor(name, options));
  }

  async checkpoint(): Promise<void> {
    this.signal.throwIfAborted();
    if (this.#options.endsAtCheckpoint === true) throw waiting(this.runId);
  }

  /** Ends the call: steps that the workflow did not await are lost. */
  end(): void {
    this.#ended.abort(runEnded(this.runId));
  }

  async #attempt<Value>(work: StepWork<Value>): Promise<Value> {
    this.signal.throwIfAborted();
    await this.#options.mayStart?.();
    this.signal.throwIfAborted();
    return await attemptStep(work);
  }

  async #waitFor(given: string, options: { readonly until?: number }): Promise<Json | undefined> {
    this.signal.throwIfAborted();
    const name = read(given, text, 'name');
    const { until } = read(options, waitOptions);
    if (until !== undefined && !Number.isFinite(until)) throw badTime(name, until);
    const sent = await this.#options.signalled(name);
    this.signal.throwIfAborted();
    if (sent !== undefined) return sent === null ? undefined : JSON.parse(sent);
    this.waits.push({ name, ...defined({ until }) });
    throw waiting(this.runId);
  }
}

function waiting(runId: string): AgentError {
  const message = `Run ${runId} is waiting. Do not catch this error; if you do, rethrow it: the runner will call the workflow again when the wait is over.`;
  return new AgentError({ kind: 'aborted', code: 'run_waiting', message });
}

function badTime(name: string, until: number): AgentError {
  const message = `The wait for ${JSON.stringify(name)} has no valid end: ${shown(until)}. Set "until" to a time in milliseconds since 1970.`;
  return new AgentError({ kind: 'invalid', code: 'until', message });
}

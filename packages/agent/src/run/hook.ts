import type { RunStatus } from '../events/event.ts';
import type { Agent, ModelRequest, ModelResponse, RequestConfig } from '../interfaces/agent.ts';
import type { Gate, GateCall } from '../interfaces/gate.ts';
import type { ToolOutput } from '../interfaces/tool-output.ts';
import type { Reader, Readers } from '../values/input.ts';
import { callable, invalid, record, text } from '../values/input.ts';
import type { Message, ToolResultPart } from '../values/message.ts';

/** The context of a call to a hook. */
export interface HookContext {
  readonly sessionId: string;
  readonly runId: string;
  /** Aborted when the run must stop. */
  readonly signal: AbortSignal;
}

/** A model request before it is sent. */
export interface RequestDraft extends Pick<ModelRequest, 'messages' | 'system'> {
  readonly agent: Agent;
  /** The names of the offered tools. */
  readonly tools: readonly string[];
  readonly config: RequestConfig;
}

/** A hook's changes to one model request; absent fields remain unchanged. Each tool must be one of the executor's tools. */
export type RequestChange = Partial<Omit<RequestDraft, 'messages'>>;

/** A tool call that has run, with the output that the model and users will receive. */
export interface CallOutcome extends Pick<ToolOutput, 'summary' | 'diff'> {
  readonly call: Pick<GateCall, 'id' | 'toolName' | 'arguments'>;
  readonly content: readonly ToolResultPart[];
  readonly isError: boolean;
}

/** The end of a run, before it is recorded. */
export interface RunEnd {
  readonly status: RunStatus;
  /** The conversation, with the last response. */
  readonly messages: readonly Message[];
}

type Returned<Value> = Value | undefined | Promise<Value | undefined>;

/**
 * Code that changes what a run does. Each function is called at one point of every run of the executor. Hooks are called in
 * the order of `hooks`, and each receives what the previous ones returned; undefined changes nothing.
 *
 * A function that throws fails closed: nothing is sent, run or passed on, and the error names the hook (code
 * `hook_failed`). The functions must be pure, because they may be called again when a run continues after a crash.
 */
export interface Hook {
  /** Appears in errors. */
  readonly name: string;
  /** Before the first model request of a run. Throw to refuse the run. */
  beforeRun?(start: Pick<RequestDraft, 'messages'>, context: HookContext): Returned<never>;
  /** Before each model request, including that for a closing response. Returns what differs in this request only. */
  beforeRequest?(draft: RequestDraft, context: HookContext): Returned<RequestChange>;
  /**
   * After each complete response, before it is recorded. Throw to reject it, which ends the run; its usage is counted.
   * It cannot be changed, because readers of the run have seen it.
   */
  afterResponse?(
    response: Pick<ModelResponse, 'message' | 'stopReason' | 'model' | 'usage'>,
    context: HookContext,
  ): Returned<never>;
  /** Before each call, and before the gate, which receives the arguments that the hooks set. Undefined: no opinion. */
  beforeTool?(call: GateCall, context: HookContext): ReturnType<Gate> | undefined;
  /**
   * After each call that has run, before long output is offloaded. Returns content that replaces it; absent fields are
   * kept, except `summary` and `diff`, which could repeat what was removed from the content.
   */
  afterTool?(outcome: CallOutcome, context: HookContext): Returned<Partial<ToolOutput> | string>;
  /** Before the conversation is shortened. `skip` leaves it as it is until the next response. */
  beforeCompaction?(
    conversation: Pick<RequestDraft, 'messages'>,
    context: HookContext,
  ): Returned<{ readonly skip?: boolean }>;
  /** After the conversation was shortened. Returns the summary that replaces it. */
  afterCompaction?(
    compacted: { readonly upTo: number; readonly summary: string },
    context: HookContext,
  ): Returned<{ readonly summary: string }>;
  /**
   * Before the end of a run is recorded, unless the run waits for a user or was stopped. A run that would be
   * `complete` continues if `continueWith` is a message for the model.
   */
  afterRun?(end: RunEnd, context: HookContext): Returned<{ readonly continueWith?: string }>;
}

const fields: Readers<Hook> = {
  name: text,
  beforeRun: callable,
  beforeRequest: callable,
  afterResponse: callable,
  beforeTool: callable,
  afterTool: callable,
  beforeCompaction: callable,
  afterCompaction: callable,
  afterRun: callable,
};

const readFields = record<Hook>(fields, ['name']);

/** Reads a hook. Later changes to its functions have no effect. A misspelt function would never be called. */
export const readHook: Reader<Hook> = (value) => {
  const hook = readFields(value);
  for (const name in value as object) {
    if (/^(before|after)/.test(name) && !Object.hasOwn(fields, name))
      throw invalid(callable, `Use ${Object.keys(fields).slice(1).join(', ')}`, `.${name}`);
  }
  return hook;
};

import type { Compacted } from '../context/compaction.ts';
import type { RunStatus } from '../events/event.ts';
import type { Agent, ModelRequest, ModelResponse } from '../interfaces/agent.ts';
import { readAgent } from '../interfaces/agent.ts';
import type { Gate } from '../interfaces/gate.ts';
import type { Tool } from '../interfaces/tool.ts';
import type { CallOutcome, Hook, HookContext, RequestChange, RequestDraft } from '../run/hook.ts';
import { requestConfig, systemText } from '../run/option-readers.ts';
import { defined } from '../values/defined.ts';
import { AgentError, summarize } from '../values/errors.ts';
import type { Reader } from '../values/input.ts';
import { flag, invalid, listOf, read, record, text } from '../values/input.ts';
import type { TextPart } from '../values/message.ts';
import { cap } from '../values/truncate.ts';
import { wellFormedText } from '../values/unicode.ts';
import { addUsage } from '../values/usage.ts';
import type { Finish } from './action.ts';
import type { RunContext } from './run-context.ts';
import type { ToolOutcome } from './tool-run.ts';
import { outcomeOf } from './tool-run.ts';

type Place = Exclude<keyof Hook, 'name'>;

/** One place at which hooks are called. */
interface Passage<Value, Change> {
  readonly place: Place;
  readonly call: (hook: Hook, value: Value, context: HookContext) => unknown;
  readonly reader: Reader<Change>;
  readonly apply: (value: Value, change: Change) => Value;
}

const nothing: Reader<never> = (value) => {
  throw invalid(value, 'Return nothing');
};

/** Calls every hook in order, each with what those before it left. */
async function pass<Value, Change>(
  run: RunContext,
  given: Value,
  { place, call, reader, apply }: Passage<Value, Change>,
): Promise<Value> {
  let value = given;
  for (const hook of run.config.hooks) {
    try {
      const returned = await call(hook, value, contextOf(run));
      if (returned === undefined) continue;
      value = apply(value, read(returned, reader, `${place}()`, 'hook_failed'));
    } catch (thrown) {
      throw hookFailed(hook, place, thrown);
    }
  }
  return value;
}

function contextOf({ config: { sessionId, runId }, signal }: RunContext): HookContext {
  return { sessionId, runId, signal };
}

function hookFailed({ name }: Hook, place: Place, thrown: unknown): AgentError {
  const { name: type, message } = summarize(thrown);
  return new AgentError({
    kind: 'invalid',
    code: 'hook_failed',
    message: `The hook ${JSON.stringify(name)} failed in ${place}: ${message}`,
    cause: { name: type, message },
  });
}

const requestChange = record<RequestChange>({
  agent: readAgent,
  system: systemText,
  tools: listOf(text),
  config: requestConfig,
});

/** Returns the agent and the request as the hooks leave them. */
export async function changedRequest(
  run: RunContext,
  request: ModelRequest,
): Promise<{ readonly agent: Agent; readonly request: ModelRequest }> {
  const { agent, request: config } = run.config;
  const names = request.tools.map(({ name }) => name);
  const messages = [...request.messages];
  if (run.state.turns === 0)
    await pass(
      run,
      { messages },
      {
        place: 'beforeRun',
        call: (hook, start, context) => hook.beforeRun?.(start, context),
        reader: nothing,
        apply: (start) => start,
      },
    );
  const draft = {
    agent,
    tools: names,
    messages,
    config: request.config ?? config,
    ...defined({ system: request.system }),
  };
  const changed = await pass<RequestDraft, RequestChange>(run, draft, {
    place: 'beforeRequest',
    call: (hook, value, context) => hook.beforeRequest?.(value, context),
    reader: requestChange,
    apply: (value, change) => {
      const unknown = change.tools?.find((name) => !run.tools.has(name));
      if (unknown !== undefined)
        throw new TypeError(`it offers ${JSON.stringify(unknown)}, which is not a tool of the executor`);
      return { ...value, ...change };
    },
  });
  const tools = request.tools.filter(({ name }) => changed.tools.includes(name));
  const { system, config: settings } = changed;
  return { agent: changed.agent, request: { ...request, tools, config: settings, ...defined({ system }) } };
}

/**
 * Returns a response that the hooks accept. A call of a tool that was not offered is not run.
 * @throws AgentError with the usage of the response, code `hook_failed`.
 */
export async function acceptedResponse(
  run: RunContext,
  response: ModelResponse,
  offered: readonly Tool[],
): Promise<ModelResponse> {
  const { message, stopReason, model, usage, wasted, attempts } = response;
  try {
    await pass(
      run,
      { message, stopReason, model, usage },
      {
        place: 'afterResponse',
        call: (hook, value, context) => hook.afterResponse?.(value, context),
        reader: nothing,
        apply: (value) => value,
      },
    );
  } catch (thrown) {
    throw new AgentError({ ...AgentError.from(thrown).toJSON(), wasted: addUsage(usage, wasted), attempts });
  }
  const content = message.content.map((part) =>
    part.type !== 'tool_call' ||
    part.problem !== undefined ||
    offered.some(({ name }) => name === part.toolName)
      ? part
      : { ...part, problem: `${part.toolName} was not offered in this turn.` },
  );
  return { ...response, message: { ...message, content } };
}

/** Returns a gate for each hook that decides about calls. */
export function hooksAsGates(run: RunContext): readonly Gate[] {
  return run.config.hooks.map((hook) => asGate(run, hook));
}

function asGate(run: RunContext, hook: Hook): Gate {
  return async (call) => {
    try {
      return (await hook.beforeTool?.(call, contextOf(run))) ?? 'allow';
    } catch (thrown) {
      return { type: 'deny', message: hookFailed(hook, 'beforeTool', thrown).message };
    }
  };
}

/** Returns the output of a call as the hooks leave it. Never rejects: without their consent the model gets an error. */
export async function changedOutput(
  run: RunContext,
  call: CallOutcome['call'],
  { outcome, maxBytes }: { readonly outcome: ToolOutcome; readonly maxBytes: number },
): Promise<ToolOutcome> {
  try {
    return await pass<ToolOutcome, ToolOutcome>(run, outcome, {
      place: 'afterTool',
      call: (hook, { content, isError }, context) => hook.afterTool?.({ call, content, isError }, context),
      reader: (value) => outcomeOf(value, maxBytes),
      apply: (_, change) => change,
    });
  } catch (thrown) {
    const message = `The tool ran, but its output is withheld: ${AgentError.from(thrown).message}`;
    return { content: [{ type: 'text', text: cap(message, maxBytes) }], isError: true };
  }
}

/** Returns whether a hook wants the conversation to stay as it is. */
export async function skipsCompaction(run: RunContext): Promise<boolean> {
  const value = { messages: [...run.state.messages], skip: false };
  const { skip } = await pass(run, value, {
    place: 'beforeCompaction',
    call: (hook, { messages }, context) => hook.beforeCompaction?.({ messages }, context),
    reader: record<{ skip?: boolean }>({ skip: flag }),
    apply: (before, change) => ({ ...before, ...change }),
  });
  return skip;
}

/** Returns the summary as the hooks leave it. */
export async function changedSummary(run: RunContext, compacted: Compacted): Promise<Compacted> {
  return await pass<Compacted, { summary: string }>(run, compacted, {
    place: 'afterCompaction',
    call: (hook, value, context) => hook.afterCompaction?.(value, context),
    reader: record<{ summary: string }>({ summary: text }, ['summary']),
    apply: (value, change) => ({ ...value, ...change }),
  });
}

/** The ends that hooks cannot change: the user is needed, or wanted the end. */
const fixedEnds: readonly RunStatus[] = ['waiting', 'cancelled', 'timeout'];

/** Returns the end of a run as the hooks leave it. A message that continues the run is recorded first. */
export async function changedEnd(run: RunContext, finish: Finish): Promise<Finish> {
  const { status, error } = finish;
  if (run.config.hooks.length === 0 || run.signal.aborted || fixedEnds.includes(status)) return finish;
  try {
    const messages = [...run.state.messages];
    const { continueWith } = await pass<{ continueWith?: string }, { continueWith?: string }>(
      run,
      {},
      {
        place: 'afterRun',
        call: (hook, _, context) => hook.afterRun?.({ status, messages }, context),
        reader: record<{ continueWith?: string }>({ continueWith: text }),
        apply: (value, change) => ({ ...value, ...change }),
      },
    );
    if (continueWith && status === 'complete' && run.state.closing === undefined)
      await run.record([{ type: 'user', content: [textPart(continueWith)], steer: true }]);
    return finish;
  } catch (thrown) {
    // The first failure says more.
    return error === undefined
      ? { type: 'finish', status: 'failed', error: AgentError.from(thrown).toJSON() }
      : finish;
  }
}

function textPart(value: string): TextPart {
  return { type: 'text', text: wellFormedText(value) };
}

import type { Compacted } from '../context/compaction.ts';
import type { RunStatus } from '../events/event.ts';
import type { Agent, ModelRequest, ModelResponse } from '../interfaces/agent.ts';
import { readAgent } from '../interfaces/agent.ts';
import type { Gate } from '../interfaces/gate.ts';
import type { Tool } from '../interfaces/tool.ts';
import { discardedFor } from '../run/compose/attribution.ts';
import type { CallOutcome, Hook, HookContext, RequestChange, RequestDraft, RunEnd } from '../run/hook.ts';
import { requestConfig, systemText } from '../run/option-readers.ts';
import { defined } from '../values/defined.ts';
import { AgentError, summarize } from '../values/errors.ts';
import type { Reader } from '../values/input.ts';
import { flag, invalid, limited, listOf, read, record, text, when } from '../values/input.ts';
import { maxPromptBytes } from '../values/sizes.ts';
import { cap } from '../values/truncate.ts';
import { wellFormedText } from '../values/unicode.ts';
import type { Finish } from './action.ts';
import type { RunContext } from './run-context.ts';
import type { ToolOutcome } from './tool-run.ts';
import { replacement } from './tool-run.ts';

type Place = Exclude<keyof Hook, 'name' | 'beforeTool'>;

/** Reads what a hook returns: the fields that are different. */
type ChangeReader<Value> = Reader<Partial<Value>>;

const nothing: Reader<never> = (value) => {
  throw invalid(value, 'Return nothing');
};

/** Calls every hook in order, each with what those before it left. */
async function pass<Value extends object>(
  run: RunContext,
  place: Place,
  given: Value,
  reader: ChangeReader<Value>,
): Promise<Value> {
  let value = given;
  for (const hook of run.config.hooks) {
    try {
      // Each place has its own type of value, which the functions below pass.
      const call = hook[place] as ((value: Value, context: HookContext) => unknown) | undefined;
      const returned = await call?.(value, contextOf(run));
      if (returned !== undefined)
        value = { ...value, ...read(returned, reader, `${place}()`, 'hook_failed') };
    } catch (thrown) {
      throw hookFailed(hook, place, thrown);
    }
  }
  return value;
}

function contextOf({ config: { sessionId, runId }, signal }: RunContext): HookContext {
  return { sessionId, runId, signal };
}

function hookFailed({ name }: Hook, place: Place | 'beforeTool', thrown: unknown): AgentError {
  const cause = summarize(thrown);
  return new AgentError({
    kind: 'invalid',
    code: 'hook_failed',
    message: `The hook ${JSON.stringify(name)} failed in ${place}: ${cause.message}`,
    cause,
  });
}

/** Returns the agent and the request as the hooks leave them. */
export async function changedRequest(
  run: RunContext,
  request: ModelRequest,
): Promise<{ readonly agent: Agent; readonly request: ModelRequest }> {
  const { agent, request: settings } = run.config;
  const { system, config = settings } = request;
  const messages = [...request.messages];
  if (run.state.turns === 0) await pass(run, 'beforeRun', { messages }, nothing);
  const tools = request.tools.map(({ name }) => name);
  const draft: RequestDraft = { agent, tools, messages, config, ...defined({ system }) };
  const changed = await pass(
    run,
    'beforeRequest',
    draft,
    record<RequestChange>({
      agent: readAgent,
      system: systemText,
      tools: listOf(when((name) => run.tools.has(name as string), "the name of one of the executor's tools")),
      config: requestConfig,
    }),
  );
  return {
    agent: changed.agent,
    request: {
      ...request,
      tools: request.tools.filter(({ name }) => changed.tools.includes(name)),
      config: changed.config,
      ...defined({ system: changed.system }),
    },
  };
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
  const { message, stopReason, model, usage } = response;
  try {
    await pass(run, 'afterResponse', { message, stopReason, model, usage }, nothing);
  } catch (thrown) {
    throw discardedFor(AgentError.from(thrown).toJSON(), response);
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
  outcome: CallOutcome,
  maxBytes: number,
): Promise<ToolOutcome> {
  try {
    return await pass(run, 'afterTool', outcome, (value) => replacement(value, maxBytes));
  } catch (thrown) {
    const message = `The tool ran, but its output is withheld: ${AgentError.from(thrown).message}`;
    return { content: [{ type: 'text', text: cap(message, maxBytes) }], isError: true };
  }
}

/** Returns whether a hook wants the conversation to stay as it is. */
export async function skipsCompaction(run: RunContext): Promise<boolean> {
  const value = { messages: [...run.state.messages], skip: false };
  return (await pass(run, 'beforeCompaction', value, record<{ skip?: boolean }>({ skip: flag }))).skip;
}

/** Returns the summary as the hooks leave it. */
export async function changedSummary(run: RunContext, compacted: Compacted): Promise<Compacted> {
  return await pass(
    run,
    'afterCompaction',
    compacted,
    record<{ summary: string }>({ summary: text }, ['summary']),
  );
}

/** The ends that hooks cannot change: the user is needed, or wanted the end. */
const fixedEnds: readonly RunStatus[] = ['waiting', 'cancelled', 'timeout'];

/** Returns the end of a run as the hooks leave it. A message that continues the run is recorded first. */
export async function changedEnd(run: RunContext, finish: Finish): Promise<Finish> {
  const { status, error } = finish;
  if (run.config.hooks.length === 0 || run.isStopping || fixedEnds.includes(status)) return finish;
  try {
    const end: RunEnd & { readonly continueWith?: string } = { status, messages: [...run.state.messages] };
    const { continueWith } = await pass(
      run,
      'afterRun',
      end,
      record<{ continueWith?: string }>({ continueWith: limited(maxPromptBytes, text) }),
    );
    if (continueWith && status === 'complete' && run.state.closing === undefined)
      await run.log.record([
        { type: 'user', content: [{ type: 'text', text: wellFormedText(continueWith) }], steer: true },
      ]);
    return finish;
  } catch (thrown) {
    // The first failure says more.
    return error === undefined
      ? { type: 'finish', status: 'failed', error: AgentError.from(thrown).toJSON() }
      : finish;
  }
}

import type { Executor, RunEvent, RunResult, ToolQuestion } from '@cobbler/agent';
import { AgentError, Budget, systemRuntime } from '@cobbler/agent';
import type { ApprovalRequestedEvent } from '@cobbler/agent/events';
import { hasSearched } from '@cobbler/agent/events';
import { callable, read, record, text } from '@cobbler/agent/input';
import { defined } from '@cobbler/agent/values';
import type {
  Backend,
  BackendContext,
  BackendProcess,
  BackendRequest,
  BackendResult,
} from '../backend/backend.ts';
import { noWork } from '../backend/backend.ts';

/** Options of {@link subAgent}. */
export interface SubAgentOptions {
  /** The name under which a model chooses it. */
  readonly name: string;
  /** Returns the executor of a task. All must have the same store, so that a task can continue an earlier one. */
  readonly executor: () => Executor | Promise<Executor>;
}

const readOptions = record<SubAgentOptions>({ name: text, executor: callable }, ['name', 'executor']);

/**
 * Returns a sub-agent of this process as a backend of the `agent` tool. Its requests are charged to the call that starts
 * its task, one by one. With an executor that is `attended`, the approvals of its calls are questions of that call.
 */
export function subAgent(options: SubAgentOptions): Backend {
  const { name, executor } = read(options, readOptions);
  const start = (request: BackendRequest, context: BackendContext = {}): BackendProcess => {
    const stop = new AbortController();
    const signal = AbortSignal.any([stop.signal, ...(context.signal === undefined ? [] : [context.signal])]);
    const began = systemRuntime.monotonic();
    const result = Promise.resolve()
      .then(executor)
      .then((one) => performed(one, name, request, { ...context, signal }))
      .catch((thrown: unknown) => failed(AgentError.from(thrown)))
      .then((outcome): BackendResult => ({ ...outcome, durationMs: systemRuntime.monotonic() - began }));
    return { result, stop: () => stop.abort(), decide: () => {}, steer: () => false };
  };
  return {
    name,
    capabilities: { tools: true, gate: true, steer: false, fork: false, deltas: false },
    tellsCost: true,
    chargesCall: true,
    problem: () => undefined,
    run: (request, context) => start(request, context).result,
    start,
  };
}

type Outcome = Omit<BackendResult, 'durationMs'>;

async function performed(
  executor: Executor,
  name: string,
  { prompt, resumeId, systemPrompt, maxTurns: turns }: BackendRequest,
  { signal, onEvent, call }: BackendContext,
): Promise<Outcome> {
  const ask = async (request: ApprovalRequestedEvent) => {
    const { toolName, arguments: given, subject, summary, diff, mustAsk } = request;
    const words = [`for ${name}`, summary].filter((part) => part !== undefined).join(', ');
    const question: ToolQuestion = { toolName, arguments: given, summary: words };
    const asked = call?.ask?.({ ...question, ...defined({ subject, diff, mustAsk }) });
    const answer = await asked?.catch(() => undefined);
    run.decide(request.approvalId, answer ?? { decision: 'deny', message: 'No user can be asked.' });
  };
  // The executor has its own instructions, and the later tasks of the session contain the first one.
  const instructions = resumeId === undefined && systemPrompt !== undefined ? `${systemPrompt}\n\n` : '';
  const budget = turns === undefined ? call?.budget : new Budget({ turns }, call?.budget);
  const run = executor.run(instructions + prompt, {
    onEvent: (event) => {
      if (event.type === 'approval_requested') void ask(event);
      else report(event, onEvent);
    },
    ...defined({ signal, budget, user: call?.user, sessionId: resumeId }),
  });
  return outcomeOf(await run.result);
}

function report(event: RunEvent, onEvent: BackendContext['onEvent']): void {
  if (event.type === 'tool_started') {
    const { callId: id, toolName, arguments: given } = event;
    onEvent?.({ type: 'part', part: { type: 'tool_call', id, toolName, arguments: given } });
  } else if (event.type === 'assistant') {
    const result = { type: 'result', callId: '', text: '', isError: false } as const;
    if (hasSearched(event.content)) onEvent?.({ ...result, untrusted: 'web_search' });
    for (const part of event.content) if (part.type === 'text') onEvent?.({ type: 'part', part });
  } else if (event.type === 'tool_result') {
    const { callId, isError, toolName, untrusted } = event;
    onEvent?.({ type: 'result', callId, text: '', isError, untrusted: untrusted === true ? toolName : null });
  }
}

function outcomeOf({ status, sessionId, text: output, error, approvals = [], metrics }: RunResult): Outcome {
  const names = approvals.map(({ toolName }) => toolName).join(', ');
  const reason = names === '' ? error?.message : `A user must decide on its call to ${names}.`;
  const { totalInputTokens: inputTokens, totalOutputTokens: outputTokens } = metrics;
  return {
    ...failed(error),
    ...{ status: statuses[status] ?? 'failed', cliSessionId: sessionId },
    output:
      status === 'complete' ? output : [output, reason ?? status].filter((part) => part !== '').join('\n'),
    ...{ usage: { inputTokens, outputTokens }, wasted: metrics.wasted },
    ...{ turns: metrics.invocations, toolCalls: metrics.toolCalls, attempts: metrics.attempts },
    ...defined({ usd: metrics.usd }),
  };
}

const statuses: Partial<Record<RunResult['status'], BackendResult['status']>> = {
  complete: 'completed',
  cancelled: 'cancelled',
  timeout: 'timeout',
};

function failed(error: AgentError | undefined): Outcome {
  return { ...noWork, status: 'failed', output: error?.message ?? '', ...defined({ error }) };
}

import { inputBound } from '../context/context.ts';
import type { EventBody } from '../events/event.ts';
import type { Agent, ModelRequest } from '../interfaces/agent.ts';
import { defined } from '../values/defined.ts';
import { AgentError } from '../values/errors.ts';
import { isNoUsage, noUsage } from '../values/usage.ts';
import type { Action } from './action.ts';
import { withQuestion } from './ask-user.ts';
import { acceptedResponse, changedRequest } from './hooks.ts';
import { requestCost } from './request-cost.ts';
import type { RunContext } from './run-context.ts';
import type { PendingRequest, PricedResponse } from './send-request.ts';
import { askWithin, SentRequest } from './send-request.ts';

/** Sends one model request and records its outcome: a response or a failure. */
export function requestModel(
  run: RunContext,
  { closing, notice }: Extract<Action, { type: 'request' }>,
): Promise<void> {
  const isClosing = closing !== undefined;
  let first: EventBody | undefined;
  if (notice !== undefined) first = { type: 'notice', ...notice };
  else if (isClosing && run.state.closing === undefined)
    first = { type: 'stop_requested', reason: 'limit', limit: closing };
  if (first === undefined) return requestTurn(run, isClosing);
  return Promise.resolve(run.log.record([first])).then(() => requestTurn(run, isClosing));
}

interface TurnStart {
  /** Time on the monotonic clock. */
  readonly began: number;
  /** True for the last response after a limit, which does not count as a turn. */
  readonly isClosing: boolean;
  /** Charges the turn to the budget, or returns it. */
  readonly settle: ((used: number) => void) | undefined;
}

function requestTurn(run: RunContext, isClosing: boolean): Promise<void> {
  const { agent, budget, runtime, hooks, tools, system } = run.config;
  const began = runtime.monotonic();
  const output = run.config.output?.shape;
  const request: ModelRequest = {
    messages: Object.freeze([...run.state.messages]),
    tools,
    config: isClosing ? { ...run.config.request, toolChoice: 'none' } : run.config.request,
    ...(system !== undefined && { system }),
    ...(output !== undefined && { output }),
  };
  const asked: PendingRequest = { agent, request, emit: run.emit };
  const turn = { began, isClosing, settle: isClosing ? undefined : budget.take('turns', 1) };
  if (hooks.length > 0) return requestWithHooks(run, asked, turn);
  return new Promise((resolve) => {
    new SentRequest(run, asked, (outcome) => resolve(recordOutcome(run, agent, turn, outcome))).start();
  });
}

async function requestWithHooks(run: RunContext, given: PendingRequest, turn: TurnStart): Promise<void> {
  let asked = given;
  let outcome: PricedResponse | AgentError;
  try {
    asked = await changedByHooks(run, given);
    const answered = await askWithin(run, asked);
    const response = await acceptedResponse(run, answered.response, asked.request.tools);
    outcome = { ...answered, response };
  } catch (thrown) {
    outcome = AgentError.from(thrown);
  }
  await recordOutcome(run, asked.agent, turn, outcome);
}

/** Returns a promise only if the store does. */
function recordOutcome(
  run: RunContext,
  agent: Agent,
  { began, isClosing, settle }: TurnStart,
  outcome: PricedResponse | AgentError,
): void | Promise<void> {
  const durationMs = run.config.runtime.monotonic() - began;
  if (outcome instanceof AgentError) {
    settle?.(0);
    const failed = withQuestion(run, failureEvent(run, agent, outcome, durationMs), outcome);
    return recordAll(run, failed);
  }
  settle?.(1);
  const events: EventBody[] = [];
  const { response, shortenedBy } = outcome;
  run.lastResponse = response;
  // The limit of the run cut the response off, not a limit of the model.
  if (shortenedBy !== undefined && response.stopReason === 'max_tokens' && !isClosing)
    events.push({ type: 'stop_requested', reason: 'limit', limit: shortenedBy });
  events.push(answerEvent(agent, outcome, durationMs));
  const recorded = run.log.record(events);
  return recorded instanceof Promise ? recorded.then(() => undefined) : undefined;
}

async function recordAll(
  run: RunContext,
  events: readonly EventBody[] | Promise<readonly EventBody[]>,
): Promise<void> {
  await run.log.record(await events);
}

function answerEvent(agent: Agent, { response, usd, tried }: PricedResponse, durationMs: number): EventBody {
  const { message, usage, wasted, stopReason, model, attempts, servedBy = agent } = response;
  return {
    type: 'assistant',
    content: message.content,
    usage,
    stopReason,
    provider: servedBy.provider,
    model,
    attempts,
    wasted,
    durationMs,
    ...(usd !== undefined && { usd }),
    ...(tried !== undefined && { tried }),
  };
}

function failureEvent(run: RunContext, agent: Agent, error: AgentError, durationMs: number): EventBody {
  // A conversation that is too long is shortened and sent again, and a hook rejects a whole response.
  const isDropped = error.code === 'context_full' || error.code === 'hook_failed';
  const partial = isDropped ? [] : run.feed.soFar.content;
  const { usd, tried } = requestCost(run, agent, error);
  const { provider, model } = agent;
  return {
    type: 'ask_failed',
    error: { ...error.toJSON(), ...defined({ tried }) },
    durationMs,
    // Without usage, there is no cost.
    ...(!isNoUsage(error.wasted ?? noUsage) && defined({ usd })),
    ...(partial.length > 0 && { partial }),
    provider,
    model,
  };
}

async function changedByHooks(run: RunContext, { request, emit }: PendingRequest): Promise<PendingRequest> {
  const changed = await changedRequest(run, request);
  // The count of the last request is not one of these tools and instructions.
  const uncounted = { messages: [...run.state.messages], contextTokens: 0, contextMessages: 0 };
  return { ...changed, inputTokens: () => inputBound(uncounted, changed.request), emit };
}

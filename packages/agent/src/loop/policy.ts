import { defaultShare } from '../context/context.ts';
import { prefixTokens } from '../context/tokens.ts';
import { spendingOf } from '../events/spending.ts';
import type { State } from '../events/state.ts';
import { notRaised } from '../events/state.ts';
import type { Amounts } from '../interfaces/amounts.ts';
import { noAmounts } from '../interfaces/amounts.ts';
import type { RunConfig } from '../run/options.ts';
import { readEvents } from '../store/open-session.ts';
import type { Policy } from './action.ts';

/** The options of a run that `decide` needs, with limits for one decision. */
type RunPolicy = { -readonly [Field in keyof Policy]: Policy[Field] };

/** Returns the options of a run that `decide` needs. Call {@link withLimits} before each decision. */
export function policyOf(config: RunConfig): RunPolicy {
  const { agent, compact, context, system, tools, limits, onLimit, onReached, attended } = config;
  const window = agent.capabilities.contextTokens ?? Number.POSITIVE_INFINITY;
  const compacts = context?.compact !== undefined;
  return {
    turns: 0,
    toolCalls: 0,
    onLimit,
    onReached,
    attended,
    compacts,
    compactsOnly: compact !== undefined,
    compactAbove: compacts ? (context.maxTokens ?? window * defaultShare) : Number.POSITIVE_INFINITY,
    prefixTokens: compacts ? prefixTokens(system, tools) : 0,
    repeats: limits.repeats || Number.POSITIVE_INFINITY,
    mayRepeat: tools.filter((tool) => tool.mayRepeat === true).map((tool) => tool.name),
  };
}

/**
 * Sets the limits, which shrink by what other runs use of the same budget. No accessors do that, because an object literal
 * with them would have a hidden class of its own for each run.
 */
export function withLimits(policy: RunPolicy, { limits, budget }: RunConfig, state: State): Policy {
  const { turns, toolCalls = Number.POSITIVE_INFINITY } = limits;
  policy.turns = Math.min(turns, state.turns + budget.left('turns'));
  policy.toolCalls = Math.min(toolCalls, state.toolCalls + budget.left('toolCalls'));
  return policy;
}

/**
 * Charges what a resumed run has already spent to its own budget. The budgets above have counted it already, except what
 * a crashed process could not settle in a store. Returns a promise only if there is a store.
 */
export function chargePast(
  config: RunConfig,
  { metrics, turns, toolCalls }: State,
): Promise<void> | undefined {
  const { budget, sessionId } = config;
  const { totalInputTokens, totalOutputTokens, wasted, usd = 0 } = metrics;
  const tokens = totalInputTokens + totalOutputTokens + wasted.inputTokens + wasted.outputTokens;
  budget.charge({ tokens, usd, turns, toolCalls });
  return budget.recover(sessionId, (seq, reservation) => recordedUsage(config, seq, reservation));
}

/**
 * Applies what users allowed beyond limits, as the log shows it: a crash between the answer and its effect changes nothing.
 * Returns a promise only if a budget of a store must be changed. Repeating it has no effect.
 */
export function applyGrants(
  { budget, runId }: RunConfig,
  { raised, question }: State,
): Promise<void> | undefined {
  if (raised !== notRaised) budget.raise(raised);
  if (question?.decision !== 'allow') return undefined;
  const { more, request } = question;
  const { approvalId: id, limit } = request;
  if (limit?.budget === undefined) return undefined;
  const amounts = { ...noAmounts, [limit.amount]: more ?? limit.more };
  return budget.grant({ id, budget: limit.budget, runId, amounts });
}

const pageLength = 100;

/**
 * Returns the usage of the request that was sent after an event, from the log: that of a call has a reservation. Undefined if
 * the log does not show it: its process crashed before the response, its price is unknown, or it was one of several requests of
 * a compaction.
 */
async function recordedUsage(
  { store, sessionId }: Pick<RunConfig, 'store' | 'sessionId'>,
  seq: number,
  reservation: string | undefined,
): Promise<Pick<Amounts, 'tokens' | 'usd'> | undefined> {
  for (let after = seq; ; ) {
    const events = await readEvents(store, sessionId, after, pageLength);
    for (const event of events) {
      const spent = spendingOf(event);
      // Another process continued, or another run started.
      if (event.type === 'resumed' || (event.type === 'user' && event.steer !== true)) return undefined;
      const isOwn = event.type !== 'spent' && reservation === undefined;
      const isOfCall =
        event.type === 'spent' && reservation !== undefined && event.reservation === reservation;
      if (spent === undefined || !(isOwn || isOfCall)) continue;
      const isCompaction =
        event.type === 'compacted' || (event.type === 'ask_failed' && event.compacting === true);
      if (isCompaction || spent.usd === undefined) return undefined;
      const { usage, wasted, usd } = spent;
      const tokens = usage.inputTokens + usage.outputTokens + wasted.inputTokens + wasted.outputTokens;
      return { tokens, usd };
    }
    if (events.length < pageLength) return undefined;
    after += events.length;
  }
}

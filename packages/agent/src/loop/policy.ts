import { defaultShare } from '../context/context.ts';
import { prefixTokens } from '../context/tokens.ts';
import type { State } from '../events/state.ts';
import type { RunConfig } from '../run/options.ts';
import type { Policy } from './action.ts';

/** Returns the options of a run that `decide` needs. Limits shrink by what other runs use of the same budget. */
export function policyOf(config: RunConfig, state: State): Policy {
  const { agent, context, system, tools, limits, budget, onLimit, attended } = config;
  const window = agent.capabilities.contextTokens ?? Number.POSITIVE_INFINITY;
  const compacts = context?.compact !== undefined;
  return {
    get turns() {
      return Math.min(limits.turns, state.turns + budget.left('turns'));
    },
    get toolCalls() {
      return Math.min(
        limits.toolCalls ?? Number.POSITIVE_INFINITY,
        state.toolCalls + budget.left('toolCalls'),
      );
    },
    onLimit,
    attended,
    compacts,
    compactAbove: compacts ? (context.maxTokens ?? window * defaultShare) : Number.POSITIVE_INFINITY,
    prefixTokens: compacts ? prefixTokens(system, tools) : 0,
    repeats: limits.repeats || Number.POSITIVE_INFINITY,
    mayRepeat: tools.filter((tool) => tool.mayRepeat === true).map((tool) => tool.name),
  };
}

/** Charges what a resumed run has already spent to its own budget. A shared budget has its own account. */
export function chargePast({ budget, hasOwnBudget }: RunConfig, { metrics, turns, toolCalls }: State): void {
  if (!hasOwnBudget) return;
  const { totalInputTokens, totalOutputTokens, wasted, usd } = metrics;
  const tokens = totalInputTokens + totalOutputTokens + wasted.inputTokens + wasted.outputTokens;
  budget.reserve(0, 0).settle(tokens, usd ?? 0);
  budget.take('turns', Math.min(turns, budget.left('turns')));
  budget.take('toolCalls', Math.min(toolCalls, budget.left('toolCalls')));
}

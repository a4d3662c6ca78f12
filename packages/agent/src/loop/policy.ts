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
    compactAbove: compacts ? (context.maxTokens ?? window * 0.8) : Number.POSITIVE_INFINITY,
    prefixTokens: compacts ? prefixTokens(system, tools) : 0,
    repeats: limits.repeats || Number.POSITIVE_INFINITY,
    mayRepeat: tools.filter((tool) => tool.mayRepeat === true).map((tool) => tool.name),
  };
}

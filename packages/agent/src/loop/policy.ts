import { prefixTokens } from '../context/tokens.ts';
import type { State } from '../events/state.ts';
import type { Policy } from './action.ts';
import type { RunConfig } from './options.ts';

/** What `decide` has to know of a run's options. Limits shrink with what others draw from the same budget. */
export function policyOf(plan: RunConfig<unknown>, state: State): Policy {
  const { agent, context, system } = plan.options;
  const { limits, budget } = plan;
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
    onLimit: plan.options.onLimit ?? 'return',
    attended: plan.options.attended ?? false,
    compacts,
    compactAbove: compacts ? (context.maxTokens ?? window * 0.8) : Number.POSITIVE_INFINITY,
    prefixTokens: compacts ? prefixTokens(system, plan.tools) : 0,
    repeats: plan.limits.repeats || Number.POSITIVE_INFINITY,
    mayRepeat: plan.tools.filter((tool) => tool.mayRepeat === true).map((tool) => tool.name),
  };
}

import type { Budget } from '../interfaces/limits.ts';
import type { JsonObject } from '../values/json.ts';

/** What a tool took from the budget of the run. */
export interface Spent {
  tokens: number;
  usd: number;
  turns: number;
  toolCalls: number;
}

/** The same budget for one tool; what that tool settles is added up in `spent`. */
export function watchedBudget(budget: Budget, spent: Spent): Budget {
  const reserve: Budget['reserve'] = (...amounts) => {
    const reservation = budget.reserve(...amounts);
    let open = true;
    return {
      again: (tokens, usd) => reservation.again(tokens, usd),
      settle(tokens, usd) {
        if (open) {
          spent.tokens += tokens;
          spent.usd += usd;
        }
        open = false;
        reservation.settle(tokens, usd);
      },
    };
  };
  const take: Budget['take'] = (what, count) => {
    const settle = budget.take(what, count);
    spent[what] += count;
    let open = true;
    return (used) => {
      if (open) spent[what] += used - count;
      open = false;
      settle(used);
    };
  };
  return new Proxy(budget, {
    get(target, name) {
      if (name === 'reserve') return reserve;
      if (name === 'take') return take;
      // A budget keeps its account in private fields, which only itself may touch.
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/** Spends again what the tool spent when it was recorded. */
export function spend(budget: Budget, spent: JsonObject): void {
  try {
    budget.reserve(0, 0).settle(Number(spent['tokens']), Number(spent['usd']));
  } catch {
    // A budget that is used up refuses; more than used up it cannot be.
  }
  for (const what of ['turns', 'toolCalls'] as const)
    budget.take(what, Math.min(Number(spent[what] ?? 0), budget.left(what)));
}

import type { SessionStore } from '@cobbler/agent';
import type { BudgetStore } from '@cobbler/agent/budgets';
import { spendingOf } from '@cobbler/agent/events';
import type { ScenarioCharge } from './crash.ts';
import { performCrashes } from './crash.ts';
import { planOf, runsPerScenario } from './crash-plan.ts';
import { leaseMs, storesAt } from './crash-stores.ts';

/** The scenarios that broke a rule, by rule. */
export interface CrashReport {
  readonly kills: number;
  readonly requests: number;
  readonly broken: Readonly<Record<string, readonly number[]>>;
}

/** Dollars are sums of fractions. */
const slack = 1e-9;

const rules = {
  'charged more than the limit': ({ charged, limit }) => charged > limit + slack,
  'the budget shows more than the limit': ({ settled, limit }) => settled > limit + slack,
  'the budget shows less than was charged': ({ settled, charged }) => settled < charged - slack,
  'a reservation is left': ({ reserved }) => reserved > slack,
  'a run has no answer, although the limit was enough': ({ answered, isEnough }) =>
    isEnough && answered < runsPerScenario,
  'the logs show more than was charged': ({ logged, charged }) => logged > charged + slack,
  'the logs show less than was charged, without a kill': ({ logged, charged, kills }) =>
    kills === 0 && logged < charged - slack,
} satisfies Record<string, (outcome: Outcome) => boolean>;

interface Outcome {
  readonly charged: number;
  readonly settled: number;
  readonly reserved: number;
  readonly logged: number;
  readonly limit: number;
  readonly isEnough: boolean;
  readonly kills: number;
  readonly answered: number;
}

/** Performs the scenarios and checks what the service charged, the budgets and the logs. */
export async function reportCrashes(place: string, count: number): Promise<CrashReport> {
  const charges = await performCrashes(place, count);
  // What the last process has reserved counts as spent once its lease is over.
  await new Promise((resolve) => setTimeout(resolve, 2 * leaseMs));
  const { store, budgets } = await storesAt(place);
  try {
    const outcomes = new Map<number, Outcome>();
    for (const [scenario, charge] of charges)
      outcomes.set(scenario, await outcomeOf(store, budgets, scenario, charge));
    const all = [...charges.values()];
    return {
      kills: all.reduce((sum, { kills }) => sum + kills, 0),
      requests: all.reduce((sum, { requests }) => sum + requests, 0),
      broken: Object.fromEntries(
        Object.entries(rules).map(([rule, isBroken]) => [
          rule,
          [...outcomes].flatMap(([scenario, outcome]) => (isBroken(outcome) ? [scenario] : [])),
        ]),
      ),
    };
  } finally {
    await store.close();
    await budgets.close();
  }
}

async function outcomeOf(
  store: SessionStore,
  budgets: BudgetStore,
  scenario: number,
  charge: ScenarioCharge,
): Promise<Outcome> {
  const [balance] = await budgets.balances([`scenario-${scenario}`]);
  let logged = 0;
  for (let run = 0; run < runsPerScenario; run += 1) {
    const events = await store.read(`scenario-${scenario}-run-${run}`);
    for (const event of events) logged += spendingOf(event)?.usd ?? 0;
  }
  const { limit, isEnough } = planOf(scenario);
  return {
    charged: charge.usd,
    settled: balance?.settled.usd ?? 0,
    reserved: balance?.reserved.usd ?? 0,
    ...{ logged, limit, isEnough, kills: charge.kills, answered: charge.answered.size },
  };
}

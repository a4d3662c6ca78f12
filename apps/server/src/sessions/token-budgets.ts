import type { Budget } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';
import type { BudgetClient, BudgetStore } from '@cobbler/agent/budgets';
import type { Reader } from '@cobbler/agent/input';
import { record, text, withMethods } from '@cobbler/agent/input';
import { defined, reachedBudget, timeOf } from '@cobbler/agent/values';
import type { TokenInfo } from '../auth/token-store.ts';
import { Problem } from '../requests/problem.ts';

/** The budgets of a server. */
export interface ServerBudgets {
  readonly store: BudgetStore;
  readonly client: BudgetClient;
  /** The budget in the settings of all sessions. Those of tokens must be inside it. */
  readonly name?: string;
}

/** Reads the budgets of a server. */
export const readBudgets: Reader<ServerBudgets> = record<ServerBudgets>(
  {
    store: withMethods('define', 'balances', 'onAlert'),
    client: withMethods('budget', 'check', 'path'),
    name: text,
  },
  ['store', 'client'],
);

/**
 * The budgets of prompts. The budget of a session records the one of its last prompt, so that a run stays in it when another
 * token or a restart continues it.
 */
export class TokenBudgets {
  readonly #budgets: ServerBudgets | undefined;
  readonly #now: () => number;
  readonly #asks: (sessionId: string) => boolean;

  /** `asks` returns whether the runs of a session ask when a budget is reached. */
  constructor(
    budgets: ServerBudgets | undefined,
    now: () => number,
    asks: (sessionId: string) => boolean = () => false,
  ) {
    this.#budgets = budgets;
    this.#now = now;
    this.#asks = asks;
  }

  /** @throws Problem 400 if no token can have this budget. */
  async checkName(budget: string): Promise<void> {
    if (this.#budgets === undefined)
      throw new Problem(
        400,
        'no_budgets',
        'This server has no budgets for access tokens. Define budgets and restart it.',
      );
    const { client, name } = this.#budgets;
    const path = (await client.path(budget)).map(({ definition }) => definition.name);
    if (name === undefined || path.includes(name)) return;
    const detail = `Budget ${JSON.stringify(budget)} is not part of ${JSON.stringify(name)}, this server's budget.`;
    throw new Problem(400, 'budget_parent', detail);
  }

  /**
   * Returns the budget of a prompt; undefined for that of the settings.
   * @throws Problem 429 if the budget of the token is reached and the run does not ask.
   */
  async ofPrompt(sessionId: string, token: TokenInfo | undefined): Promise<Budget | undefined> {
    const budget = token?.budget;
    if (budget === undefined && (await this.ofSession(sessionId)) === undefined) return undefined;
    if (this.#budgets === undefined)
      throw new Problem(503, 'no_budgets', 'The budget of this token is not available.');
    const { client, store, name } = this.#budgets;
    if (budget !== undefined && !this.#asks(sessionId)) await this.#check(budget);
    await store.define({ name: budgetName(sessionId), limits: {}, ...defined({ parent: budget ?? name }) });
    return budget === undefined ? undefined : await client.budget(budget);
  }

  /** Returns the budget of a run that continues; undefined for that of the settings. */
  async ofSession(sessionId: string): Promise<Budget | undefined> {
    try {
      return await this.#budgets?.client.budget(budgetName(sessionId));
    } catch (error) {
      if (AgentError.is(error) && error.code === 'no_budget') return undefined;
      throw error;
    }
  }

  async #check(budget: string): Promise<void> {
    try {
      await this.#budgets?.client.check(budget);
    } catch (error) {
      const reached = AgentError.is(error) ? reachedBudget(error) : undefined;
      if (reached === undefined) throw error;
      const { until } = reached;
      const seconds = until === undefined ? 0 : Math.ceil((timeOf(until) - this.#now()) / 1000);
      throw new Problem(429, 'budget', AgentError.from(error).message, {
        ...(until !== undefined && { headers: { 'retry-after': String(Math.max(1, seconds)) } }),
        extra: { budget, ...defined({ until }) },
      });
    }
  }
}

function budgetName(sessionId: string): string {
  return `session:${sessionId}`;
}

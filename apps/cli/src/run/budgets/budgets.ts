import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Budget } from '@cobbler/agent';
import type { BudgetAlert, BudgetClient, BudgetDefinition, BudgetStore } from '@cobbler/agent/budgets';
import type { FileConfig } from '@cobbler/agent/node';
import { parseConfig } from '@cobbler/agent/node';
import { defined } from '@cobbler/agent/values';
import { readProjectFile } from '../../config/project-rules.ts';
import { postJson } from '../../notify/post-json.ts';
import { homeToKeep } from '../../session/session-home.ts';
import type { Environment } from '../../terminal/io.ts';
import { UsageError } from '../../terminal/usage-error.ts';

/** The budgets that a command uses. */
export interface BudgetPlan {
  readonly env: Environment;
  /** The configuration with the definitions. */
  readonly values: FileConfig;
  /** The budget of all runs. Default: that of the configuration. */
  readonly chosen?: string;
  /** The database with the budgets. Default: a file in the home directory. */
  readonly url?: string;
  /** Receives problems with alerts. Default: ignored. */
  readonly report?: (line: string) => void;
}

/** An open store with the budgets of the configuration. */
export interface BudgetAccess {
  readonly store: BudgetStore;
  readonly client: BudgetClient;
}

/** The budgets of one command. The store is opened when the first budget is needed. */
export class Budgets {
  readonly #plan: BudgetPlan;
  readonly #sending = new Set<Promise<void>>();
  #opening: Promise<BudgetAccess> | undefined;

  constructor(plan: BudgetPlan) {
    this.#plan = plan;
  }

  /** The name of the budget of all runs. */
  get chosen(): string | undefined {
    return this.#plan.chosen ?? this.#plan.values.budget;
  }

  /**
   * Returns the budget of the runs in a directory: the chosen one, and below it that of the project's file. Undefined if
   * there is neither.
   * @throws UsageError for an invalid project file, AgentError `invalid`, code `no_budget`, for an unknown budget.
   */
  async budgetIn(folder: string): Promise<Budget | undefined> {
    const name = await this.nameIn(folder);
    return name === undefined ? undefined : await (await this.open()).client.budget(name);
  }

  /** Returns the name of that budget, which is then in the store. */
  async nameIn(folder: string): Promise<string | undefined> {
    const { chosen: parent } = this;
    const project = await projectBudget(folder, this.#plan.env);
    if (project === undefined) return parent;
    const path = [...(parent === undefined ? [] : [parent]), `project:${folder}`].join('/');
    // The name of a budget has at most 200 characters.
    const name = path.length > 200 ? `project:${createHash('sha256').update(path).digest('hex')}` : path;
    await (await this.open()).store.define({ ...project, name, ...defined({ parent }) });
    return name;
  }

  /**
   * Returns a function that returns the budget of a user of the assistant: that of the configuration for each user, in the
   * chosen one. Undefined if there is neither.
   * @throws AgentError `invalid`, code `no_budget`, for an unknown budget.
   */
  async ofUsers(timeZone: string): Promise<((userId: string) => Promise<Budget>) | undefined> {
    const { chosen: parent } = this;
    const { userBudget } = this.#plan.values;
    if (parent === undefined && userBudget === undefined) return undefined;
    const { store, client } = await this.open();
    const shared = parent === undefined ? undefined : await client.budget(parent);
    return async (userId) => {
      if (userBudget === undefined && shared !== undefined) return shared;
      const name = `assistant:user:${userId}`;
      await defineChanged(store, [{ timeZone, limits: {}, ...userBudget, name, ...defined({ parent }) }]);
      return await client.budget(name);
    };
  }

  /** Opens the store and defines the budgets of the configuration in it. */
  open(): Promise<BudgetAccess> {
    this.#opening ??= this.#open();
    return this.#opening;
  }

  /** Settles what is reserved, and closes the store. */
  async close(): Promise<void> {
    // Whoever needed the store has reported that it could not be opened.
    const opened = await this.#opening?.catch(() => undefined);
    await opened?.client.flush();
    await opened?.store.close();
    await Promise.all(this.#sending);
  }

  async #open(): Promise<BudgetAccess> {
    const { env, values, url } = this.#plan;
    const definitions = definitionsOf(values);
    const { BudgetClient } = await import('@cobbler/agent/budgets');
    const store = await openStore(env, url);
    try {
      await defineChanged(store, definitions);
    } catch (error) {
      await store.close();
      throw error;
    }
    return { store, client: new BudgetClient({ store, onAlert: (alert) => this.#alert(alert) }) };
  }

  #alert(alert: BudgetAlert): void {
    const { values, report } = this.#plan;
    if (values.alertWebhook === undefined) return;
    const sending = sendAlert(values.alertWebhook, alert).then((problem) => {
      this.#sending.delete(sending);
      if (problem !== undefined) report?.(problem);
    });
    this.#sending.add(sending);
  }
}

/** Returns the file with the budgets; undefined if nothing is stored. */
export function budgetFile(env: Environment): string | undefined {
  const home = homeToKeep(env);
  return home && join(home, 'budgets.db');
}

async function openStore(env: Environment, url: string | undefined): Promise<BudgetStore> {
  if (url !== undefined) return (await import('@cobbler/store-postgres/budgets')).postgresBudgets({ url });
  const file = budgetFile(env);
  if (file !== undefined) return (await import('@cobbler/agent/sqlite-budgets')).sqliteBudgets({ file });
  throw UsageError.noHome('Budgets');
}

/** Writes only what differs, so that most commands only read. */
async function defineChanged(store: BudgetStore, definitions: readonly BudgetDefinition[]): Promise<void> {
  for (const definition of definitions) {
    const [known] = await store.balances([definition.name]).catch(() => []);
    if (!isDeepStrictEqual(known?.definition, definition)) await store.define(definition);
  }
}

/** Maximum time of a request, in milliseconds. */
const timeoutMs = 10_000;

/** Sends an alert. Returns why it was not accepted. */
async function sendAlert(address: string, alert: BudgetAlert): Promise<string | undefined> {
  const { endsAt, ...rest } = alert;
  const until = endsAt === undefined ? undefined : new Date(endsAt).toISOString();
  const body = JSON.stringify({ type: 'budget_alert', ...rest, ...defined({ until }) });
  const problem = await postJson({ url: address, body, timeoutMs });
  return problem && `The alert for budget ${JSON.stringify(alert.budget)} could not be sent: ${problem}.`;
}

/** A budget as a configuration file contains it, below its name. */
type BudgetSetting = NonNullable<FileConfig['budgets']>[string];

/** Returns the definitions of a configuration, each after its parent. @throws UsageError if a budget is above itself. */
function definitionsOf({ budgets = {} }: FileConfig): readonly BudgetDefinition[] {
  const definitions = new Map<string, BudgetDefinition>();
  const add = (name: string, below: readonly string[]): void => {
    const setting = Object.hasOwn(budgets, name) ? budgets[name] : undefined;
    // A parent that is not in the configuration can be in the store.
    if (setting === undefined || definitions.has(name)) return;
    if (below.includes(name)) throw ownParent(name);
    if (setting.parent !== undefined) add(setting.parent, [...below, name]);
    definitions.set(name, { name, ...setting });
  };
  for (const name of Object.keys(budgets)) add(name, []);
  return [...definitions.values()];
}

function ownParent(name: string): UsageError {
  return UsageError.withCode(
    'budget_parent',
    `Budget ${JSON.stringify(name)} is its own parent or ancestor.`,
    'Correct `parent` in the configuration.',
  );
}

/**
 * Returns the budget in a project's own file, which has no parent: it is below the budget that the user chose. Undefined if
 * there is none.
 * @throws UsageError if it is invalid, or names a parent.
 */
async function projectBudget(folder: string, env: Environment): Promise<BudgetSetting | undefined> {
  const { path, values } = await readProjectFile(folder, env);
  const setting = values?.['budget'];
  if (setting === undefined) return undefined;
  try {
    const { budgets } = (await parseConfig(JSON.stringify({ budgets: { budget: setting } }), path)).values;
    if (budgets?.['budget']?.parent === undefined) return budgets?.['budget'];
  } catch {
    // Reported below.
  }
  throw new UsageError(
    `${path} is invalid: "budget" must contain "limits" and can contain "per" and "timeZone".`,
    'For example: budget: { per: day, limits: { usd: 1 } }. A project cannot choose another budget.',
  );
}

import type { BudgetDefinition } from '@cobbler/agent/budgets';
import type { FileConfig } from '@cobbler/agent/node';
import { parseConfig } from '@cobbler/agent/node';
import { readProjectFile } from '../../config/project-rules.ts';
import type { Environment } from '../../terminal/io.ts';
import { UsageError } from '../../terminal/usage-error.ts';

/** A budget as a configuration file contains it, below its name. */
type BudgetSetting = NonNullable<FileConfig['budgets']>[string];

/**
 * Returns the definitions of a configuration, each after its parent.
 * @throws UsageError if a budget is above itself.
 */
export function definitionsOf({ budgets = {} }: FileConfig): readonly BudgetDefinition[] {
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
    `Budget ${JSON.stringify(name)} is its own parent, or above its parent.`,
    'Correct `parent` in the configuration.',
  );
}

/**
 * Returns the budget in a project's own file, which has no parent: it is below the budget that the user chose. Undefined if
 * there is none.
 * @throws UsageError if it is invalid, or names a parent.
 */
export async function projectBudget(folder: string, env: Environment): Promise<BudgetSetting | undefined> {
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

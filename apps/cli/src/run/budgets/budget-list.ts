import { existsSync } from 'node:fs';
import type { Amounts, BudgetBalance } from '@cobbler/agent/budgets';
import type { RawOptions } from '../../config/run-flags.ts';
import { readSettings } from '../../config/settings.ts';
import { visibleJson } from '../../terminal/escape.ts';
import { formatUsd, plural } from '../../terminal/format.ts';
import type { Io } from '../../terminal/io.ts';
import { oneLine } from '../../terminal/one-line.ts';
import { screenFor } from '../../terminal/screen.ts';
import { styleFor } from '../../terminal/style.ts';
import { table } from '../../terminal/table.ts';
import { Budgets, budgetFile } from './budgets.ts';

/** Runs `cobbler budgets`: prints what is spent and reserved of each budget. Returns the exit code. */
export async function listBudgets(options: RawOptions, io: Io): Promise<number> {
  const balances = await readBalances(options['store'], io);
  if (options['json'] === true) {
    const items = balances.map(({ endsAt, ...rest }) => ({
      ...rest,
      ...(endsAt !== undefined && { endsAt: new Date(endsAt).toISOString() }),
    }));
    io.stdout.write(`${visibleJson(JSON.stringify({ items }))}\n`);
  } else if (balances.length === 0) {
    io.stderr.write('There are no budgets. To find out how to add one, run: cobbler help budgets\n');
  } else {
    const style = styleFor(screenFor(io.stdout, io.env));
    io.stdout.write(`${table(titles, balances.flatMap(linesOf), style).join('\n')}\n`);
  }
  return 0;
}

/** Returns the balances. A file that does not exist is not created if the configuration has no budgets. */
async function readBalances(store: unknown, io: Io): Promise<readonly BudgetBalance[]> {
  const { values } = (await readSettings(io.env)).file;
  const url = typeof store === 'string' ? { url: store } : {};
  const file = budgetFile(io.env);
  if (store === undefined && values.budgets === undefined && !(file && existsSync(file))) return [];
  const budgets = new Budgets({ env: io.env, values, ...url });
  try {
    const balances = await (await budgets.open()).store.balances();
    // A server defines one for each session of a token with a budget, without limits of its own.
    return balances.filter(
      ({ definition: { name, limits } }) => !name.startsWith('session:') || Object.keys(limits).length > 0,
    );
  } finally {
    await budgets.close();
  }
}

const titles = ['budget', 'per', 'limit', 'spent', 'reserved', 'left', 'next period'];

const amounts: Readonly<Record<keyof Amounts, (value: number) => string>> = {
  usd: formatUsd,
  tokens: (value) => plural(value, 'token'),
  requests: (value) => plural(value, 'request'),
};

/** Returns one line for each limit, and for a budget without limits one with what it has cost. */
function linesOf({
  definition,
  settled,
  reserved,
  granted,
  endsAt,
}: BudgetBalance): readonly (readonly string[])[] {
  const { name, per = 'total', limits } = definition;
  const limited = (['usd', 'tokens', 'requests'] as const).filter((amount) => limits[amount] !== undefined);
  const next = endsAt === undefined ? '' : `${new Date(endsAt).toISOString().slice(0, 16)}Z`;
  return (limited.length === 0 ? (['usd'] as const) : limited).map((amount) => {
    const given = limits[amount];
    const limit = given === undefined ? undefined : given + granted[amount];
    const format = amounts[amount];
    const limitText = limit === undefined ? 'none' : format(limit);
    // Each run has a balance of its own.
    if (per === 'run') return [oneLine(name), per, limitText];
    const left = limit === undefined ? '' : format(Math.max(0, limit - settled[amount] - reserved[amount]));
    return [oneLine(name), per, limitText, format(settled[amount]), format(reserved[amount]), left, next];
  });
}

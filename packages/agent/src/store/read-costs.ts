import type { Reader } from '../values/input.ts';
import { amount, oneOf, read, record, text, when, withMethods } from '../values/input.ts';
import { addCosts } from './cost-totals.ts';
import type { CostQuery, CostRow, CostSum } from './costs.ts';
import { costGroups, costRows, eventCosts, quartersOf } from './costs.ts';
import { localDates } from './local-date.ts';
import type { SessionStore, Store } from './store.ts';

const timeZone = when<string>((value) => {
  try {
    return typeof value === 'string' && localDates('day', value)(0) !== '';
  } catch {
    return false;
  }
}, 'an IANA time zone, such as Europe/Berlin');

/** Reads a query for costs. */
export const readCostQuery: Reader<CostQuery> = record<CostQuery>(
  { by: oneOf(...costGroups), since: amount, until: amount, timeZone, user: text },
  ['by'],
);

/** Number of events in memory at a time. */
const pageLength = 1000;

/**
 * Returns the costs of all sessions in a store. A store that does not keep them has to read every event; then the costs
 * of deleted sessions are missing.
 * @throws AgentError `invalid` for an invalid query, and what the store throws.
 */
export async function readCosts(
  store: Store & Pick<SessionStore, 'costs'>,
  query: CostQuery,
): Promise<readonly CostRow[]> {
  read(store, withMethods<Store>('sessions', 'read'), 'store');
  const given = read(query, readCostQuery, 'query');
  return store.costs === undefined ? costRows(await sumsOf(store, given), given) : await store.costs(given);
}

async function sumsOf(store: Store, query: CostQuery): Promise<CostSum[]> {
  const [from, to] = quartersOf(query);
  const sums = new Map<string | number, CostSum>();
  for (const session of await store.sessions()) {
    for (let last = 0; ; ) {
      const page = await store.read(session, last, pageLength);
      for (const entry of page.flatMap(eventCosts)) {
        if (entry.quarter < from || entry.quarter >= to) continue;
        if (entry.user !== (query.user ?? entry.user)) continue;
        const { quarter, kind, model, user, tool, ...totals } = entry;
        const key = { day: quarter, session, model, kind, user, tool }[query.by];
        const sum = sums.get(key);
        sums.set(key, {
          key,
          ...(sum === undefined ? totals : addCosts(sum, totals)),
          firstQuarter: Math.min(quarter, sum?.firstQuarter ?? quarter),
          lastQuarter: Math.max(quarter, sum?.lastQuarter ?? quarter),
        });
      }
      if (page.length < pageLength) break;
      last += page.length;
    }
  }
  return [...sums.values()];
}

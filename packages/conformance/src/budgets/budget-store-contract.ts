import type { BudgetStore } from '@cobbler/agent/budgets';
import type { ContractCase } from '@cobbler/agent/testing';
import { defined, timeOf } from '@cobbler/agent/values';
import { alertCases } from './alerts.ts';
import type { BudgetCase, BudgetSubject } from './case.ts';
import { definitionCases } from './definitions.ts';
import { grantCases } from './grants.ts';
import { periodCases } from './periods.ts';
import { processCases } from './processes.ts';
import { reservationCases } from './reservations.ts';

/** 2026-01-02, noon in UTC: an arbitrary day. */
const start = timeOf('2026-01-02T12:00:00Z');

const definitions: readonly BudgetCase[] = [
  ...definitionCases,
  ...reservationCases,
  ...periodCases,
  ...processCases,
  ...grantCases,
  ...alertCases,
];

/** Returns the cases that every budget store must pass, for any test runner. */
export function budgetStoreContract(subject: BudgetSubject): ContractCase[] {
  return definitions.map((definition) => bound(definition, subject));
}

function bound({ group, name, needs, run }: BudgetCase, subject: BudgetSubject): ContractCase {
  const off = needs === 'processes' ? subject.forgets : needs === 'time' ? subject.ownClock : undefined;
  return {
    group,
    name,
    ...defined({ off }),
    async run() {
      let time = start;
      const place = await subject.place(() => time);
      const opened: BudgetStore[] = [];
      const another = async () => {
        const store = await place.open();
        opened.push(store);
        return store;
      };
      try {
        const store = await another();
        await run({
          store,
          another,
          pass(ms) {
            time += ms;
          },
        });
      } finally {
        for (const store of opened) await store.close();
        await place.remove?.();
      }
    },
  };
}

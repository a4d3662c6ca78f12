import type { ContractCase } from './contract-case.ts';
import { appendCases } from './store-contract/appends.ts';
import type { StoreCase, StoreSubject } from './store-contract/cases.ts';
import { claimCases } from './store-contract/claims.ts';
import { deleteCases, forkCases, retentionCases } from './store-contract/ends.ts';
import { fileCases } from './store-contract/files.ts';
import { listCases } from './store-contract/lists.ts';
import { probeCases } from './store-contract/probes.ts';
import { snapshotCases } from './store-contract/snapshots.ts';

const definitions: readonly StoreCase[] = [
  ...appendCases,
  ...claimCases,
  ...listCases,
  ...fileCases,
  ...forkCases,
  ...deleteCases,
  ...retentionCases,
  ...snapshotCases,
  ...probeCases,
];

/** What every store of sessions has to do, as a list of cases that any test runner can run. */
export function storeContract(subject: StoreSubject): ContractCase[] {
  return definitions.map((definition) => bound(definition, subject));
}

function bound({ group, name, reopens, run }: StoreCase, subject: StoreSubject): ContractCase {
  const { forgets } = subject;
  return {
    group,
    name,
    ...(reopens && forgets !== undefined && { off: forgets }),
    async run() {
      // Some day of the year 2026.
      let time = 1_767_312_000_000;
      const place = await subject.place(() => time);
      let store = await place.open();
      try {
        await run({
          get store() {
            return store;
          },
          pass(ms) {
            time += ms;
          },
          async reopen() {
            await store.close();
            store = await place.open();
          },
        });
      } finally {
        await store.close();
      }
    },
  };
}

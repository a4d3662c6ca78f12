import type { ContractCase } from '@cobbler/agent/testing';
import { appendCases } from './appends.ts';
import type { StoreCase, StoreSubject } from './case.ts';
import { claimCases } from './claims.ts';
import { costCases } from './costs.ts';
import { deleteCases } from './deletes.ts';
import { fileCases } from './files.ts';
import { forkCases } from './forks.ts';
import { listCases } from './lists.ts';
import { mailCases } from './mail.ts';
import { probeCases } from './probes.ts';
import { retentionCases } from './retention.ts';
import { searchCases } from './search.ts';
import { shareCases } from './shares.ts';
import { snapshotCases } from './snapshots.ts';

const definitions: readonly StoreCase[] = [
  ...appendCases,
  ...claimCases,
  ...listCases,
  ...fileCases,
  ...forkCases,
  ...deleteCases,
  ...retentionCases,
  ...snapshotCases,
  ...shareCases,
  ...probeCases,
  ...costCases,
  ...mailCases,
  ...searchCases,
];

/** Returns the cases that every session store must pass, for any test runner. */
export function storeContract(subject: StoreSubject): ContractCase[] {
  return definitions.map((definition) => bound(definition, subject));
}

function bound({ group, name, reopens, run }: StoreCase, subject: StoreSubject): ContractCase {
  const { forgets, noCosts, noMail, noSearch } = subject;
  const missing: Readonly<Record<string, string | undefined>> = {
    costs: noCosts,
    mail: noMail,
    search: noSearch,
  };
  const off = missing[group] ?? (reopens ? forgets : undefined);
  return {
    group,
    name,
    ...(off !== undefined && { off }),
    async run() {
      // An arbitrary day in 2026.
      let time = 1_767_312_000_000;
      const place = await subject.place(() => time);
      let store = await place.open();
      try {
        await run({
          get store() {
            return store;
          },
          another: async () => await place.open(),
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

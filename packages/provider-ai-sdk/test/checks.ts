import type { ContractCase } from '@cobbler/agent/testing';
import { subjects } from './subjects.ts';

/** What mutants are looked for by. */
export const checks: readonly { readonly name: string; cases(): readonly ContractCase[] }[] = subjects.map(
  (subject) => ({
    name: subject.name,
    cases: () => subject.contract?.(subject, { seeds: { count: 10 } }) ?? [],
  }),
);

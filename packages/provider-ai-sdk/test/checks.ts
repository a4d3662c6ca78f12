import type { ContractCase } from '@cobbler/agent/testing';
import { subjects } from './subjects.ts';

/** The contracts that must detect the mutants. */
export const checks: readonly { readonly name: string; cases(): readonly ContractCase[] }[] = subjects.map(
  (subject) => ({
    name: subject.name,
    cases: () => subject.contract?.(subject, { seeds: { count: 10 } }) ?? [],
  }),
);

import type { ContractCase } from '@cobbler/agent/testing';
import { subjects } from './subjects.ts';

/** What mutants are looked for by. */
export const checks: readonly { readonly name: string; cases(): readonly ContractCase[] }[] = subjects.map(
  ({ name, cases }) => ({ name, cases: () => cases({ seeds: { count: 10 } }) }),
);

import type { ContractSubject } from '@cobbler/conformance';
import { createClaude } from '../src/index.ts';
import { claudeTesting } from '../src/testing/index.ts';

/** What the contract and the mutants are run on. */
export const subjects: readonly ContractSubject[] = [
  { name: 'claude', create: (link) => createClaude({ env: {}, ...link }), testing: claudeTesting },
];

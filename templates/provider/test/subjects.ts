import type { ContractSubject } from '@cobbler/conformance';
import { createYourOwn } from '../src/index.ts';
import { yourOwnTesting } from '../src/testing/index.ts';

/** What the contract is run on, here and by `npm run contract`: one for each wire that the service speaks. */
export const subjects: readonly ContractSubject[] = [
  { name: 'your-own', create: createYourOwn, testing: yourOwnTesting },
];

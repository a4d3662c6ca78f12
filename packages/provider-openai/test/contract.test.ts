import { agentContract, wireCases } from '@cobbler/conformance';
import { describe, test } from 'vitest';
import { subjects } from './subjects.ts';

/** contract.slow.test.ts runs the whole contract. */
describe.each(subjects)('agentContract, $name', (subject) => {
  for (const { group, name, run, off } of wireCases(agentContract(subject, { seeds: { count: 3 } })))
    test(`${group}: ${name}`, ({ skip }) => (off === undefined ? run() : skip(off)));
});

import { wireCases } from '@cobbler/conformance';
import { describe, test } from 'vitest';
import { subjects } from './subjects.ts';

/** contract-*.slow.test.ts run the whole contract over all models. */
describe.each(subjects.slice(0, 1))('agentContract, $name', (subject) => {
  for (const { group, name, run, off } of wireCases(subject.cases({ seeds: { count: 2 } })))
    test(`${group}: ${name}`, ({ skip }) => (off === undefined ? run() : skip(off)));
});

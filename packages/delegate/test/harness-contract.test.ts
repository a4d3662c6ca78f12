import { describeContract, harnessContract } from '@cobbler/conformance';
import { describe, it } from 'vitest';
import { delegatedSubjects } from './subjects.ts';

/**
 * Runs the first case of each group over one backend, because every prompt starts a program. The harness of the loop
 * passes all cases in the quick tests, and harness-contract.slow.test.ts runs all over all backends.
 */
describe.each(delegatedSubjects().slice(-1))('a harness over $name', (subject) => {
  const groups = Map.groupBy(harnessContract(subject), ({ group }) => group);
  describeContract(
    [...groups.values()].flatMap((cases) => cases.find(({ off }) => off === undefined) ?? []),
    { describe, it },
  );
});

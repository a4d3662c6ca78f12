import { describeContract, harnessContract } from '@cobbler/conformance';
import { describe, it } from 'vitest';
import { delegatedSubjects } from './subjects.ts';

const endurance = 'P18 thirty prompts one after another';

/** harness-contract.slow.test.ts runs all cases over all backends. */
describe.each(delegatedSubjects().slice(-1))('a harness over $name', (subject) =>
  describeContract(
    harnessContract(subject).filter(({ name }) => name !== endurance),
    { describe, it },
  ),
);
